"""MindSpore's own Ascend backend on the virtual NPU, in processes of their own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mindspore import Tensor

TESTS = Path(__file__).resolve().parent
VIRTUAL_NPU = TESTS / "virtual_npu"
PROGRAMS = TESTS / "ascend"
sys.path[:0] = [str(VIRTUAL_NPU), str(PROGRAMS)]
import make_stubs
import operators
import toolkit

ACTIVATE = (sys.executable, str(VIRTUAL_NPU / "activate.py"), "--")
MODES = ("GRAPH_MODE", "PYNATIVE_MODE")
NOTHING = dict.fromkeys(("tensors", "scalars", "executors", "streams", "events"), 0)
NOTHING |= dict.fromkeys(("deviceAllocations", "deviceBytes", "hostAllocations"), 0)
TRAININGS = (
    "Dense,ReLU,CrossEntropyLoss,SGD",
    "Dense,ReLU,SoftmaxCrossEntropyWithLogits,Momentum",
    "Linear,ReLU,CrossEntropyLoss,Adam",
    "Dense,ReLU,SoftmaxCrossEntropyWithLogits,AdamWeightDecay",
)


class Ascend:
    """Runs commands under activate.py in a directory of their own."""

    def __init__(self, directory):
        """Keep the directory."""
        self.directory = directory

    def run(self, *command, **variables):
        """Return the finished process."""
        return subprocess.run(
            [*ACTIVATE, *map(str, command)],
            check=False,
            capture_output=True,
            text=True,
            cwd=self.directory,
            env=os.environ | variables,
            timeout=600,
        )

    def program(self, name, *arguments, **variables):
        """Return what a program of tests/ascend prints, and what it left alive."""
        report = self.directory / "left.json"
        run = self.run("python", PROGRAMS / name, *arguments, VIRTUAL_NPU_EXIT_REPORT=str(report), **variables)
        assert run.returncode == 0, run.stdout + run.stderr
        return last_json(run), json.loads(report.read_text())

    def script(self, *lines):
        """Return the finished process of a Python script that has MindSpore set to Ascend."""
        head = ("import ctypes, numpy as np, mindspore as ms", "from mindspore import Tensor, mint, nn")
        return self.run("python", "-c", "\n".join((*head, "ms.set_device('Ascend')", *lines)))


def last_json(run):
    """The line of JSON that the process printed; MindSpore prints others."""
    return json.loads(re.findall(r"^\{.*\}$", run.stdout, re.MULTILINE)[-1])


@pytest.fixture
def ascend(tmp_path):
    """The way to run commands on the virtual NPU."""
    return Ascend(tmp_path)


@pytest.mark.parametrize(("mode", "level"), [("GRAPH_MODE", "O0"), ("GRAPH_MODE", "O1"), ("PYNATIVE_MODE", "O0")])
def test_operator_without_the_package(ascend, mode, level):
    """ops.Custom over the vendor package computes, keeps bounds apart, and says why a call is refused."""
    result, _ = ascend.program("raw_operator.py", mode, level)
    assert result["outputs"] == [[0, 0, 0, 3, 0, 5, 0, 0]] * 2 + [[0, 1, 2, 0, 4, 0, 0, 0]]
    assert "errno[161002] gradOutput has the shape [3, 2], but self has [4, 2]" in result["refused"]


@pytest.mark.parametrize("mode", MODES)
def test_builtin_hardtanh_reaches_the_operator(ascend, mode):
    """The backward of mint.nn.Hardtanh, unchanged, is the vendor package's, which is closed at the bounds."""
    result, _ = ascend.program("builtin_gradient.py", mode)
    assert result["gradient"] == [0, 1, 1, 1, 1, 1, 0]
    assert result["calls"][-2:] == ["aclnnHardtanhBackward", "HardtanhGrad"]


@pytest.mark.parametrize("mode", MODES)
def test_builtin_hardtanh_without_the_vendor_package(ascend, mode):
    """Where the package is missing, log and result show that another function computed."""
    result, _ = ascend.program("builtin_gradient.py", mode, ASCEND_CUSTOM_OPP_PATH="")
    assert result["gradient"] == [0, 0, 1, 1, 1, 0, 0]
    assert result["calls"][-2:] == ["aclnnHardtanhBackward", "libopapi/aclnnHardtanhBackward"]


@pytest.mark.parametrize("mode", MODES)
def test_thousand_steps(ascend, mode):
    """A training leaks nothing and its memory stays flat."""
    training = "Linear,Hardtanh,CrossEntropyLoss,Momentum"
    result, left = ascend.program("train.py", "Ascend", mode, 1000, training)
    losses, (early, late) = result[training].values()
    assert np.mean(losses[-100:]) < np.mean(losses[:20]) / 2
    assert late - early < 2 << 20
    if mode == "GRAPH_MODE":
        assert left == NOTHING
    else:
        # MindSpore keeps the executors of calls that it has seen, and leaves them when it ends.
        _, left_soon = ascend.program("train.py", "Ascend", mode, 30, training)
        assert left == left_soon
        assert all(left[name] == 0 for name in NOTHING if name not in ("tensors", "scalars", "executors"))


@pytest.mark.parametrize("mode", MODES)
def test_losses_are_those_of_cpu(ascend, mode):
    """Trainings with each optimizer lose the same on both targets."""
    on_ascend, _ = ascend.program("train.py", "Ascend", mode, 50, *TRAININGS)
    on_cpu, _ = ascend.program("train.py", "CPU", mode, 50, *TRAININGS)
    for training in TRAININGS:
        np.testing.assert_allclose(
            on_ascend[training]["losses"], on_cpu[training]["losses"], rtol=0, atol=1e-5, err_msg=training
        )
        assert on_cpu[training]["losses"][-1] != on_cpu[training]["losses"][0]


def test_elementary_operators(ascend):
    """The operators that the virtual NPU computes itself agree with NumPy, and none is left without a call."""
    result, _ = ascend.program("operators.py")
    assert result["failures"] == []
    functions = make_stubs.defined(toolkit.build() / "cann/lib64/libvirtual_npu.so")
    aclnn = {name for name in functions if f"{name}GetWorkspaceSize" in functions}
    by_name = re.findall(r'^ +\{"(\w+)",', (VIRTUAL_NPU / "src/aclop.cpp").read_text(), re.MULTILINE)
    # The one that is missing is the vendor package's here.
    assert aclnn | set(by_name) == {"aclnnHardtanhBackward", *result["calls"]}


def test_comparison_with_numpy_can_fail(monkeypatch):
    """A wrong value, shape or NaN is noted."""
    monkeypatch.setattr(operators, "failures", [])
    operators.compare("right", Tensor([1.0, np.nan]), np.array([1, np.nan]), 1e-6)
    assert operators.failures == []
    for wrong in (np.array([1, 2]), np.array([1 + 1e-5, np.nan]), np.array([[1, np.nan]])):
        operators.compare("wrong", Tensor([1.0, np.nan]), wrong, 1e-6)
    assert len(operators.failures) == 3


def test_missing_operators_are_named(ascend):
    """An operator that is not there ends the call with its name."""
    run = ascend.script("mint.cumsum(Tensor([1.0, 2.0]), 0).asnumpy()")
    assert run.returncode != 0
    assert "aclnnCumsumGetWorkspaceSize not in" in run.stderr
    run = ascend.script("nn.Conv2d(1, 2, 3)(Tensor(np.ones((1, 1, 8, 8), np.float32))).asnumpy()")
    assert run.returncode != 0
    assert "operator Conv2D is not part of the virtual NPU; operands: DT_FLOAT[1,1,8,8]" in run.stderr


def test_a_failing_task_reaches_python(ascend):
    """What fails on the stream raises where the result is asked for, and nothing hangs."""
    run = ascend.script(
        "result = mint.gather(Tensor([1.0, 2.0]), 0, Tensor([0, 9]))",
        "try:",
        "    result.asnumpy()",
        "except RuntimeError as error:",
        "    print(error)",
    )
    assert (run.returncode, "Sync stream error" in run.stdout) == (0, True), run.stdout
    assert "virtual NPU: error 507035 on a stream: index 9 is outside a dimension of 2" in run.stderr


def test_a_leak_is_reported(ascend):
    """What a program leaves alive is said on stderr."""
    run = ascend.script(
        "value = ctypes.c_float(1)",
        "ctypes.CDLL('libvirtual_npu.so').aclCreateScalar(ctypes.byref(value), 0)",
    )
    assert 'left alive at exit: {"tensors": 0, "scalars": 1' in run.stderr


def test_activate(ascend):
    """Exit codes pass through, the command finds the same Python, and a missing command is said."""
    assert ascend.run("python", "-c", "import sys; sys.exit(7)").returncode == 7
    where = ascend.run("python", "-c", "import sys; print(sys.prefix)").stdout
    assert where == f"{sys.prefix}\n"
    run = ascend.run("no-such-command")
    assert (run.returncode, run.stderr) == (1, "no-such-command: No such file or directory\n")
    assert ascend.run().returncode == 2
