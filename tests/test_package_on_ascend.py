"""The package on device_target "Ascend", over the virtual NPU, in processes of their own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ms_hardtanh_grad
from ms_hardtanh_grad import contract, vendor

TESTS = Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS / "virtual_npu"))
import toolkit

ACTIVATE = (sys.executable, str(TESTS / "virtual_npu" / "activate.py"), "--")
TRAIN = TESTS.parent / "examples" / "train_digits.py"


def run(directory, *command, on=ACTIVATE, **variables):
    """Run a command in a directory, on the virtual NPU unless said otherwise, and return the finished process."""
    return subprocess.run(
        [*on, *map(str, command)],
        check=False,
        capture_output=True,
        text=True,
        cwd=directory,
        env=os.environ | variables,
        timeout=600,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("test_operator.py", "test_api.py"),
        ("test_operator.py", "--jit-level", "O1", "-k", "GRAPH and (example or special or dynamic)"),
        ("npu",),
    ],
    ids=["O0 and PyNative", "O1", "assumptions"],
)
def test_suite(tmp_path, arguments):
    """The tests of the CPU target pass on Ascend, and those that are meant for hardware run here too.

    At O1 MindSpore fuses elementary operators into kernels of its own, which need an NPU: what has none of them runs.
    """
    paths = [TESTS / a if (TESTS / a).exists() else a for a in arguments]
    done = run(tmp_path, "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--device", "Ascend", *paths)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


@pytest.fixture(scope="module")
def built():
    """The vendor package that was built for the virtual NPU."""
    return Path(toolkit.environment(toolkit.build())[vendor.CUSTOM_PATHS])


def doctor(directory, **variables):
    """The doctor's report on the virtual NPU, and what it wrote on stderr."""
    done = run(directory, "python", "-m", "ms_hardtanh_grad", "--json", **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout[done.stdout.index("{\n") :]), done.stderr


def test_doctor_names_the_vendor_package(tmp_path, built):
    """The doctor says which library serves the gradient, without a warning."""
    report, messages = doctor(tmp_path)
    assert (report["device_target"], report["ok"]) == ("Ascend", True)
    assert report["libraries"]["Ascend"] == str(built / vendor.LIBRARY)
    assert "UserWarning" not in messages


@pytest.mark.parametrize("broken", [False, True], ids=["missing", "does not load"])
def test_silent_fallback_is_said(tmp_path, broken):
    """Where MindSpore would silently take CANN's own operator, a warning names the file that was looked for."""
    package = tmp_path / "vendors" / contract.VENDOR_NAME
    library = package / vendor.LIBRARY
    library.parent.mkdir(parents=True)
    if broken:
        library.write_text("not a library")
    report, messages = doctor(tmp_path, ASCEND_CUSTOM_OPP_PATH=str(package))
    assert report["libraries"]["Ascend"] is None
    assert str(library) in report["passed_over"]
    assert "UserWarning: CANN's own operator is used" in messages
    assert str(library) in messages


@pytest.mark.parametrize("first", ["ms_hardtanh_grad", "mindspore"])
def test_bundled_package_is_found(tmp_path, built, first):
    """A vendor package in the wheel serves without any setting, whatever is imported first."""
    package = tmp_path / "site" / "ms_hardtanh_grad"
    shutil.copytree(Path(ms_hardtanh_grad.__file__).parent, package, ignore=shutil.ignore_patterns("vendors"))
    shutil.copytree(built, package / "vendors" / contract.VENDOR_NAME)
    code = f"""
import ctypes, sys
sys.path.insert(0, {str(package.parent)!r})
import {first}
import mindspore as ms, ms_hardtanh_grad as htg
assert htg.__file__.startswith({str(package)!r})
ms.set_device("Ascend")
x = ms.Tensor([-2.0, 0.5, 2.0])
print(ms.grad(htg.hardtanh)(x))
npu = ctypes.CDLL("libvirtual_npu.so")
npu.vnpuCallLog.restype = ctypes.c_char_p
assert "HardtanhGrad" in npu.vnpuCallLog().decode().split()
print("served by", htg.vendor.find()[0])
"""
    done = run(tmp_path, "python", "-c", code, ASCEND_CUSTOM_OPP_PATH="")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[0. 1. 0.]" in done.stdout
    assert f"served by {package / 'vendors' / contract.VENDOR_NAME / vendor.LIBRARY}" in done.stdout


def test_late_import_is_said(tmp_path, built):
    """Imported after the first operation on the device, the package says that its operator is not in use."""
    package = tmp_path / "site" / "ms_hardtanh_grad"
    shutil.copytree(Path(ms_hardtanh_grad.__file__).parent, package, ignore=shutil.ignore_patterns("vendors"))
    shutil.copytree(built, package / "vendors" / contract.VENDOR_NAME)
    code = f"""
import sys
sys.path.insert(0, {str(package.parent)!r})
import mindspore as ms
ms.set_device("Ascend")
(ms.Tensor([1.0]) * 2).asnumpy()
import ms_hardtanh_grad
"""
    done = run(tmp_path, "python", "-c", code, ASCEND_CUSTOM_OPP_PATH="")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "UserWarning: ms_hardtanh_grad was imported after MindSpore had read" in done.stderr


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_training_loses_as_on_cpu(tmp_path, mode):
    """The first 50 losses of the example on the digits equal the CPU target's to 1e-5."""
    losses = {}
    for target, on in (("CPU", ()), ("Ascend", ACTIVATE)):
        file = tmp_path / f"{target}.json"
        command = (sys.executable, TRAIN, "--mode", mode, "--device", target, "--steps", 50, "--losses", file)
        done = run(tmp_path, *command, on=on)
        assert done.returncode == 0, done.stdout + done.stderr
        losses[target] = json.loads(file.read_text())["htg.Hardtanh"]
    assert len(losses["CPU"]) == 50
    np.testing.assert_allclose(losses["Ascend"], losses["CPU"], rtol=0, atol=1e-5)
