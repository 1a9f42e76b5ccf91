"""Train a network with Hardtanh on handwritten digits: `python examples/train_digits.py --help`.

The network is dense, 64-128-64-10, with htg.Hardtanh between the layers. Every fifth of the 1797 images (the first, the
sixth, ...) is for testing, 360 in all, the other 1437 are for training. Weights and shuffling come from one NumPy
generator, so a seed gives the same training in both modes and on both targets.
"""

import argparse
import functools
import importlib.util
import json
import time
from pathlib import Path
from typing import NamedTuple

import mindspore as ms
import numpy as np
from mindspore import mint, nn

import ms_hardtanh_grad as htg

DATA = Path(__file__).parent / "data" / "digits.csv.gz"
BATCH = 32
LEARNING_RATE = 0.05
MOMENTUM = 0.9
PICTURE = "train_digits.png"

say = functools.partial(print, flush=True)


class Digits(NamedTuple):
    """Images as float32 of shape (count, 64), scaled to -1..1, and labels as int32 of shape (count,)."""

    images: np.ndarray
    labels: np.ndarray


def load_digits():
    """The digits as (training set, test set)."""
    table = np.loadtxt(DATA, delimiter=",", dtype=np.float32)
    images, labels = table[:, :-1] / 8 - 1, table[:, -1].astype(np.int32)
    testing = np.arange(len(table)) % 5 == 0
    return Digits(images[~testing], labels[~testing]), Digits(images[testing], labels[testing])


class Linear(nn.Cell):
    """x @ weight.T + bias with normally distributed weights from a NumPy generator."""

    def __init__(self, inputs, outputs, generator):
        """Draw the weights, with a standard deviation of 1 / sqrt(inputs)."""
        super().__init__()
        weight = generator.standard_normal((outputs, inputs)) / np.sqrt(inputs)
        self.weight = ms.Parameter(ms.Tensor(weight.astype(np.float32)))
        self.bias = ms.Parameter(ms.Tensor(np.zeros(outputs, np.float32)))

    def construct(self, x):
        """(count, inputs) to (count, outputs)."""
        return mint.nn.functional.linear(x, self.weight, self.bias)


def make_network(hardtanh, generator):
    """The network, from images to the logits of ten digits; `hardtanh` makes one activation cell."""
    return nn.SequentialCell(
        Linear(64, 128, generator), hardtanh(), Linear(128, 64, generator), hardtanh(), Linear(64, 10, generator)
    )


class TrainStep(nn.Cell):
    """One step of training with momentum; in GRAPH_MODE it is compiled as a whole."""

    def __init__(self, network):
        """Make the loss and the optimizer of `network`."""
        super().__init__()
        self.network = network
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        self.optimizer = nn.Momentum(network.trainable_params(), LEARNING_RATE, MOMENTUM)
        self.loss_and_gradients = ms.value_and_grad(self.forward, None, self.optimizer.parameters)

    def forward(self, images, labels):
        """The loss of a batch."""
        return self.loss(self.network(images), labels)

    def construct(self, images, labels):
        """Update the weights; returns the loss before."""
        loss, gradients = self.loss_and_gradients(images, labels)
        self.optimizer(gradients)
        return loss


def accuracy(network, digits):
    """The share of `digits` that `network` recognises."""
    logits = network(ms.Tensor(digits.images)).asnumpy()
    return float((logits.argmax(axis=1) == digits.labels).mean())


class History(NamedTuple):
    """What a training leaves: the loss of every step, the last test accuracy, the time of an epoch."""

    losses: list
    accuracy: float
    seconds_per_epoch: float


def train(network, step, training, testing, generator, options, report=say):
    """Train `network` by calling step(images, labels), Tensors of one batch, for the loss of every batch.

    An epoch visits the training images in a new random order, without the rest that does not fill a batch. It ends
    early after `options.steps` steps in all. `report` takes a line about every epoch. The time of an epoch is that of
    its steps alone, at the median time of a step: the first ones compile and warm up.
    """
    steps_per_epoch = len(training.labels) // BATCH
    last = min(options.epochs * steps_per_epoch, options.steps or np.inf)
    losses, seconds = [], []
    while len(losses) < last:
        order = generator.permutation(len(training.labels))
        done = len(losses)
        for first in range(0, min(steps_per_epoch, last - done) * BATCH, BATCH):
            batch = order[first : first + BATCH]
            start = time.perf_counter()
            losses.append(step(ms.Tensor(training.images[batch]), ms.Tensor(training.labels[batch])).asnumpy().item())
            seconds.append(time.perf_counter() - start)
        score = accuracy(network, testing)
        report(
            f"epoch {1 + done // steps_per_epoch:2}  loss {np.mean(losses[done:]):.4f}  test accuracy {score:.4f}"
            f"  {sum(seconds[done:]):.2f} s"
        )
    return History(losses, score, float(np.median(seconds)) * steps_per_epoch)


def draw_hardtanh(axes, boundary):
    """Draw Hardtanh and its gradient as the package computes them: between the bounds' neighbours, and on the bounds."""
    hardtanh = htg.Hardtanh(boundary=boundary)
    gradient = ms.grad(hardtanh)
    bounds = np.float32((hardtanh.min_val, hardtanh.max_val))
    below, above = np.nextafter(bounds, np.float32(-np.inf)), np.nextafter(bounds, np.float32(np.inf))
    x = np.linspace(-2, 2, 101, dtype=np.float32)
    axes.plot(x, hardtanh(ms.Tensor(x)).asnumpy(), "--", color="tab:gray", label="hardtanh(x)")
    for ends in ((-2, below[0]), (above[0], below[1]), (above[1], 2)):
        x = np.linspace(*ends, 101, dtype=np.float32)
        axes.plot(x, gradient(ms.Tensor(x)).asnumpy(), color="tab:red")
    for x, fill in ((np.concatenate((below, above)), "white"), (bounds, "tab:red")):
        axes.plot(x, gradient(ms.Tensor(x)).asnumpy(), "o", color="tab:red", markerfacecolor=fill)
    axes.plot([], [], "o-", color="tab:red", label="gradient (dot: on the bound)")
    axes.set(title=f'boundary="{boundary}"', xlabel="x", ylabel="value", ylim=(-1.2, 1.2))
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")


def save_picture(path, histories):
    """Draw the losses of `histories`, by name, and Hardtanh with its gradient for both boundaries."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6), layout="constrained")
    axes = figure.subplot_mosaic([["loss", "closed"], ["loss", "open"]], width_ratios=(1.3, 1))
    for (name, history), style in zip(histories.items(), (("tab:blue", "-"), ("tab:orange", "--"))):
        window = min(20, len(history.losses))
        steps = np.arange(1, len(history.losses) + 1)
        axes["loss"].plot(steps, history.losses, color=style[0], alpha=0.25, linewidth=0.8)
        mean = np.convolve(history.losses, np.ones(window) / window, "valid")
        axes["loss"].plot(steps[window - 1 :], mean, style[1], color=style[0], label=f"{name}, mean of {window} steps")
    axes["loss"].set(title="Training on the digits", xlabel="step", ylabel="cross entropy", yscale="log")
    axes["loss"].grid(alpha=0.3)
    axes["loss"].legend(title="thin: single steps")
    for boundary in ("closed", "open"):
        draw_hardtanh(axes[boundary], boundary)
    figure.savefig(path, dpi=120)


def whole_number(least):
    """The type of a command line argument that is a whole number from `least`."""

    def parse(text):
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"got {text}, accepts a whole number from {least}")
        return int(text)

    return parse


def make_parser(description):
    """A parser with the arguments of every training on the digits."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--mode", choices=("graph", "pynative"), default="graph", help="default: %(default)s")
    parser.add_argument("--epochs", type=whole_number(1), default=10, help="default: %(default)s")
    parser.add_argument("--steps", type=whole_number(1), help=f"stop after so many batches of {BATCH} images")
    parser.add_argument("--seed", type=whole_number(0), default=0, help="default: %(default)s")
    return parser


def set_up(parser, options, device):
    """Choose MindSpore's target and mode, and load the digits."""
    if not DATA.exists():
        parser.error(f"{DATA} is missing; it comes with the example")
    ms.set_device(device)
    ms.set_context(mode=ms.GRAPH_MODE if options.mode == "graph" else ms.PYNATIVE_MODE)
    return load_digits()


def main():
    """Train as the command line says."""
    parser = make_parser("Train a network with Hardtanh on handwritten digits.")
    parser.add_argument("--device", choices=("CPU", "Ascend"), default="CPU", help="default: %(default)s")
    parser.add_argument("--compare", action="store_true", help="train the same network with built-in Hardtanh as well")
    parser.add_argument("--losses", type=Path, metavar="FILE.json", help="write the loss of every step")
    parser.add_argument(
        "--picture",
        type=Path,
        metavar="FILE.png",
        help=f"draw the losses, and Hardtanh with its gradient; default where matplotlib is installed: {PICTURE}",
    )
    options = parser.parse_args()
    if importlib.util.find_spec("matplotlib") is not None:
        options.picture = options.picture or Path(PICTURE)
    elif options.picture:
        parser.error("--picture needs matplotlib, which is not installed: pip install matplotlib")
    for path in filter(None, (options.losses, options.picture)):
        if not path.absolute().parent.is_dir():
            parser.error(f"{path}: {path.parent} is no directory")
    training, testing = set_up(parser, options, options.device)
    activations = {"htg.Hardtanh": htg.Hardtanh}
    if options.compare:
        # mint.nn.Hardtanh has no kernel on CPU.
        activations |= (
            {"nn.Hardtanh": nn.Hardtanh} if options.device == "CPU" else {"mint.nn.Hardtanh": mint.nn.Hardtanh}
        )
    histories = {}
    for name, activation in activations.items():
        say(f"training with {name}")
        generator = np.random.default_rng(options.seed)
        network = make_network(activation, generator)
        step = TrainStep(network)
        histories[name] = train(network, step, training, testing, generator, options)
    if options.losses:
        options.losses.write_text(json.dumps({name: history.losses for name, history in histories.items()}))
    if options.picture:
        save_picture(options.picture, histories)
        print(f"picture: {options.picture}")
    for name, history in histories.items():
        print(f"{name}: test accuracy {history.accuracy:.4f}, {history.seconds_per_epoch:.3f} s per epoch")


if __name__ == "__main__":
    main()
