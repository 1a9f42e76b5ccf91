"""Trains small networks: `train.py DEVICE MODE STEPS LAYER,ACTIVATION,LOSS,OPTIMIZER...`.

Prints as JSON, for each, the losses, and the resident memory in bytes after a third of the steps and at the end. By
then whatever is kept once is there, such as the virtual NPU's call log.
"""

import json
import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint, nn

OPTIMIZERS = {
    "SGD": lambda parameters: nn.SGD(parameters, 0.05, 0.9, 0.1, 1e-3),
    "Momentum": lambda parameters: nn.Momentum(parameters, 0.05, 0.9),
    "Adam": lambda parameters: nn.Adam(parameters, 0.01),
    "AdamWeightDecay": lambda parameters: nn.AdamWeightDecay(parameters, 0.01, weight_decay=0.01),
}
ACTIVATIONS = {"ReLU": nn.ReLU, "Hardtanh": mint.nn.Hardtanh}
LOSSES = {
    "CrossEntropyLoss": lambda: nn.CrossEntropyLoss(),
    "SoftmaxCrossEntropyWithLogits": lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
}
LAYERS = {"Dense": nn.Dense, "Linear": mint.nn.Linear}


class Net(nn.Cell):
    """Two layers with an activation between them."""

    def __init__(self, layer, activation):
        """Make the layers."""
        super().__init__()
        self.first = layer(16, 32)
        self.activation = activation
        self.second = layer(32, 4)

    def construct(self, x):
        """Return the logits."""
        return self.second(self.activation(self.first(x)))


def resident_bytes():
    """The process's resident memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def train(mode, steps, layer, activation, loss, optimizer):
    """Return the losses and the memory of one training."""
    generator = np.random.default_rng(0)
    net = Net(LAYERS[layer], ACTIVATIONS[activation]())
    for parameter in net.trainable_params():
        parameter.set_data(Tensor(generator.standard_normal(parameter.shape).astype(np.float32) / 4))
    update = OPTIMIZERS[optimizer](net.trainable_params())
    criterion = LOSSES[loss]()

    def forward(x, labels):
        return criterion(net(x), labels)

    gradients = ms.value_and_grad(forward, None, net.trainable_params())

    def step(x, labels):
        value, grads = gradients(x, labels)
        update(grads)
        return value

    if mode == "GRAPH_MODE":
        step = ms.jit(step)
    losses, memory = [], []
    for i in range(steps):
        x = generator.standard_normal((8, 16)).astype(np.float32)
        losses.append(float(step(Tensor(x), Tensor(x[:, :4].argmax(1).astype(np.int32))).asnumpy()))
        if i + 1 in (steps // 3, steps):
            memory.append(resident_bytes())
    return {"losses": losses, "memory": memory}


if __name__ == "__main__":
    device, mode, steps, *trainings = sys.argv[1:]
    ms.set_device(device)
    ms.set_context(mode=getattr(ms, mode))
    print(json.dumps({training: train(mode, int(steps), *training.split(",")) for training in trainings}))
