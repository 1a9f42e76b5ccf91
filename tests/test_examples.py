"""The examples: training on the digits in both modes and on both targets, their pictures, and two workers."""

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import mindspore as ms
import numpy as np
import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
EXAMPLES = REPOSITORY / "examples"
TRAIN = EXAMPLES / "train_digits.py"
WITHOUT_MATPLOTLIB = f"""
import runpy, sys
sys.modules["matplotlib"] = None
sys.path.insert(0, {str(EXAMPLES)!r})
sys.argv[0] = {str(TRAIN)!r}
runpy.run_path(sys.argv[0], run_name="__main__")
"""
# Workers that add up their gradients.
SUM_FOR_MEAN = f"""
import sys
sys.path.insert(0, {str(EXAMPLES)!r})
import train_data_parallel

def mean(self, tensor):
    return self.all_reduce(tensor)

train_data_parallel.ParallelStep.mean = mean
train_data_parallel.main()
"""
MODES = ("graph", "pynative")


def run(directory, *command):
    """Run a command in `directory`; it finds the programs beside this Python first."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "GLOG_v": "3"}
    command = [str(part) for part in command]
    return subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def succeed(*command):
    """Run a command that has to succeed, and return its standard output."""
    result = run(*command)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def accuracies(output):
    """The last test accuracy of each network, by its activation."""
    return {name: float(value) for name, value in re.findall(r"^(\S+): test accuracy ([\d.]+),", output, re.MULTILINE)}


@pytest.fixture(scope="module")
def trainings(tmp_path_factory):
    """A training of five epochs in each mode, compared in one: the directory and what was printed, by mode."""
    results = {}
    for mode, more in zip(MODES, (["--compare"], [])):
        directory = tmp_path_factory.mktemp(mode)
        command = [sys.executable, TRAIN, "--mode", mode, "--epochs", 5, "--losses", "losses.json", *more]
        results[mode] = directory, succeed(directory, *command)
    return results


def losses(directory):
    """The losses of a training, by activation."""
    return json.loads((directory / "losses.json").read_text())


@pytest.mark.parametrize("mode", MODES)
def test_training(trainings, mode):
    """A network with the package's Hardtanh learns, shows every epoch, and tells the accuracy last."""
    _, output = trainings[mode]
    print(output)
    assert len(re.findall(r"^epoch ", output.split("training with")[1], re.MULTILINE)) == 5
    assert accuracies(output)["htg.Hardtanh"] >= 0.95
    assert re.match(r"(htg|nn).Hardtanh: test accuracy", output.splitlines()[-1])


def test_modes_have_the_same_losses(trainings):
    """Both modes run the same training."""
    graph, pynative = (losses(trainings[mode][0])["htg.Hardtanh"] for mode in MODES)
    assert len(graph) == 5 * (1437 // 32)
    np.testing.assert_allclose(graph, pynative, rtol=0, atol=1e-5)


def test_compare(trainings):
    """The built-in Hardtanh trains as well, from the same weights, and both times are told."""
    directory, output = trainings["graph"]
    found = accuracies(output)
    assert found.keys() == {"htg.Hardtanh", "nn.Hardtanh"}
    assert min(found.values()) >= 0.95
    assert len(re.findall(r", [\d.]+ s per epoch$", output, re.MULTILINE)) == 2
    ours, builtin = losses(directory).values()
    assert ours[0] == builtin[0]
    assert len(ours) == len(builtin)


def test_another_seed_is_another_training(trainings, tmp_path):
    """The seed decides on the weights, and --steps on the number of steps."""
    succeed(tmp_path, sys.executable, TRAIN, "--steps", 3, "--seed", 1, "--losses", "losses.json")
    other = losses(tmp_path)["htg.Hardtanh"]
    assert len(other) == 3
    assert not np.isclose(other, losses(trainings["graph"][0])["htg.Hardtanh"][:3], rtol=1e-3).any()


@pytest.mark.parametrize("mode", MODES)
def test_ascend_has_the_losses_of_cpu(trainings, tmp_path, mode):
    """MindSpore's Ascend backend, on the virtual NPU, runs the same training."""
    activate = REPOSITORY / "tests" / "virtual_npu" / "activate.py"
    command = [sys.executable, activate, "--", "python", TRAIN, "--device", "Ascend", "--mode", mode]
    succeed(tmp_path, *command, "--steps", 50, "--losses", "losses.json")
    ascend = losses(tmp_path)["htg.Hardtanh"]
    assert len(ascend) == 50
    np.testing.assert_allclose(ascend, losses(trainings["graph"][0])["htg.Hardtanh"][:50], rtol=0, atol=1e-5)


def test_picture(trainings):
    """A picture is drawn where matplotlib is installed."""
    image = pytest.importorskip("matplotlib.image", reason="matplotlib is not installed")
    directory, output = trainings["graph"]
    assert "picture: train_digits.png" in output
    height, width, _ = image.imread(directory / "train_digits.png").shape
    assert width > height > 500


@pytest.mark.parametrize(("boundary", "on_bound"), (("closed", 1), ("open", 0)))
def test_picture_shows_the_gradient_on_the_bounds(device, monkeypatch, boundary, on_bound):
    """The dots on the bounds differ between the two boundaries, the lines do not."""
    figure = pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed")
    monkeypatch.syspath_prepend(EXAMPLES)
    import train_digits

    axes = figure.Figure().add_subplot()
    train_digits.draw_hardtanh(axes, boundary)
    hardtanh, below, inside, above, neighbours, bounds = (line.get_xydata() for line in axes.get_lines()[:6])
    np.testing.assert_array_equal(hardtanh[:, 1], np.clip(hardtanh[:, 0], -1, 1))
    assert (below[:, 1] == 0).all()
    assert (inside[:, 1] == 1).all()
    assert (above[:, 1] == 0).all()
    np.testing.assert_array_equal(neighbours[:, 1], [0, 1, 1, 0])
    np.testing.assert_array_equal(bounds, [[-1, on_bound], [1, on_bound]])


def test_without_matplotlib(tmp_path):
    """Training needs no matplotlib; asking for a picture says what is missing, before it trains."""
    succeed(tmp_path, sys.executable, "-c", WITHOUT_MATPLOTLIB, "--steps", 1)
    assert not list(tmp_path.glob("*.png"))
    result = run(tmp_path, sys.executable, "-c", WITHOUT_MATPLOTLIB, "--picture", "picture.png")
    assert result.returncode == 2
    assert result.stdout == ""
    assert "--picture needs matplotlib, which is not installed" in result.stderr


def launch(directory, script, *arguments):
    """Run a script on two workers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--worker_num=2", "--local_worker_num=2", f"--master_port={port}", "--log_dir=logs", "--join=True"]
    return run(directory, "msrun", *options, "--tail_worker_log=0", script, *arguments)


def check_data_parallel(directory, mode, expected):
    """Two workers have the gradients and losses of one."""
    result = launch(directory, EXAMPLES / "train_data_parallel.py", "--check", "--steps", 10, "--mode", mode)
    assert result.returncode == 0, result.stdout + result.stderr
    for rank in range(2):
        assert "gradients equal: largest difference" in (directory / "logs" / f"worker_{rank}.log").read_text()
    (loss,) = re.findall(r"^epoch  1  loss ([\d.]+)", result.stdout, re.MULTILINE)
    assert abs(float(loss) - np.mean(expected[:10])) < 1e-4


def test_data_parallel(trainings, tmp_path):
    """Two workers train as one does."""
    check_data_parallel(tmp_path, "graph", losses(trainings["graph"][0])["htg.Hardtanh"])


@pytest.mark.slow
def test_data_parallel_pynative(trainings, tmp_path):
    """Two workers train as one does in PyNative, too."""
    check_data_parallel(tmp_path, "pynative", losses(trainings["graph"][0])["htg.Hardtanh"])


def test_data_parallel_check_fails(tmp_path):
    """The check finds gradients that are added up and not averaged."""
    (tmp_path / "sum_for_mean.py").write_text(SUM_FOR_MEAN)
    result = launch(tmp_path, tmp_path / "sum_for_mean.py", "--check", "--steps", 1)
    assert result.returncode != 0
    assert "gradients differ: largest difference" in (tmp_path / "logs" / "worker_0.log").read_text()


def test_largest_difference(device, monkeypatch):
    """The comparison of gradients finds a small difference, and NaN anywhere."""
    monkeypatch.syspath_prepend(EXAMPLES)
    from train_data_parallel import TOLERANCE, largest_difference

    one = [ms.Tensor(np.ones((2, 3), np.float32)), ms.Tensor(np.ones(4, np.float32))]
    assert largest_difference(one, one) == 0
    for value, index in ((1.00001, 0), (0.99999, 1), (np.nan, 0), (np.nan, 1)):
        other = [tensor.asnumpy().copy() for tensor in one]
        other[index].flat[1] = value
        assert not largest_difference(one, [ms.Tensor(array) for array in other]) <= TOLERANCE


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    (
        (("--mode", "eager"), "--mode: invalid choice: 'eager'"),
        (("--device", "GPU"), "--device: invalid choice: 'GPU'"),
        (("--epochs", "0"), "--epochs: got 0, accepts a whole number from 1"),
        (("--steps", "many"), "--steps: got many, accepts a whole number from 1"),
        (("--seed", "-1"), "--seed: got -1, accepts a whole number from 0"),
        (("--losses", "missing/losses.json"), "missing/losses.json: missing is no directory"),
        ((), "digits.csv.gz is missing"),
    ),
)
def test_mistakes(device, monkeypatch, tmp_path, capsys, arguments, sentence):
    """A mistake on the command line, or a missing data file, is told in a sentence before anything is trained."""
    monkeypatch.syspath_prepend(EXAMPLES)
    import train_digits

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(train_digits, "DATA", tmp_path / "digits.csv.gz")
    monkeypatch.setattr(sys, "argv", ["train_digits.py", *arguments])
    with pytest.raises(SystemExit) as stop:
        train_digits.main()
    assert stop.value.code == 2
    assert sentence in capsys.readouterr().err


def test_data_parallel_alone(tmp_path):
    """Without the launcher the script says that it needs it."""
    result = run(tmp_path, sys.executable, EXAMPLES / "train_data_parallel.py")
    assert result.returncode == 2
    assert "start it with msrun" in result.stderr
