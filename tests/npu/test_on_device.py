"""What the virtual NPU assumes about the hardware, each assumption as a test.

    python -m pytest tests/npu --device Ascend

It runs on an Atlas A2. Under tests/virtual_npu/activate.py all but the hardware's own checks run too, which shows that
the tests work and nothing about the hardware.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import mindspore as ms
import numpy as np
import oracle
import pytest
from conftest import assert_same_bits, to_tensor
from mindspore import nn

import ms_hardtanh_grad as htg
from ms_hardtanh_grad import contract, vendor

C_API = Path(__file__).parent / "c_api.py"
RAW_OPERATOR = Path(__file__).parents[1] / "ascend" / "raw_operator.py"
BITS = {"float32": np.uint32, "float16": np.uint16, "bfloat16": np.uint16}
MOST_MANTISSA = {"float32": 23, "float16": 10, "bfloat16": 7}


@pytest.fixture(autouse=True)
def on_ascend(device):
    """Nothing here concerns the CPU target."""
    if device != "Ascend":
        pytest.skip("runs with --device Ascend, on an Atlas A2 or under tests/virtual_npu/activate.py")


def is_hardware():
    """Whether Ascend is an NPU in this process: the driver has one, and the virtual NPU is not loaded."""
    return any(Path("/dev").glob("davinci[0-9]*")) and "libvirtual_npu" not in Path("/proc/self/maps").read_text()


def patterns(dtype):
    """All bit patterns of a 16-bit type; of float32 a sample, with what is special."""
    if dtype != "float32":
        return np.arange(65536, dtype=np.uint16).view(np.float16 if dtype == "float16" else np.uint16)
    sample = np.random.default_rng(0).integers(0, 2**32, 65536, np.uint32).view(np.float32)
    return np.concatenate([sample, oracle.special_values(dtype)])


def check(grad_output, x, *bounds):
    """Compare the operator with the formula, bit for bit."""
    actual = htg.hardtanh_grad(to_tensor(grad_output), to_tensor(x), *bounds)
    assert_same_bits(actual, oracle.hardtanh_grad(grad_output, x, *bounds))


@pytest.mark.parametrize("bounds", [(-1.0, 1.0), (0.0, 0.0), (-np.inf, np.inf)], ids=str)
@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_compare_of_nan_is_false(dtype, bounds):
    """CompareScalar GT and LT are false for every NaN, so its gradient passes."""
    mantissa = 2 ** MOST_MANTISSA[dtype]
    payloads = np.unique(np.geomspace(1, mantissa - 1, 1000).astype(BITS[dtype]))
    exponent = oracle.from_float32(np.float32(np.inf), dtype).reshape(1).view(BITS[dtype])
    positive = exponent | payloads
    x = np.concatenate([positive, positive | BITS[dtype](1) << BITS[dtype](8 * positive.itemsize - 1)])
    x = x if dtype == "bfloat16" else x.view(dtype)
    assert np.isnan(oracle.to_float32(x)).all()
    grad_output, _ = oracle.random_inputs(x.size, dtype)
    assert_same_bits(htg.hardtanh_grad(to_tensor(grad_output), to_tensor(x), *bounds), grad_output)


@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_select_moves_bits(dtype):
    """Select keeps NaN payloads, -0.0 and subnormals of the gradient, and gives +0.0 for each outside."""
    grad_output = patterns(dtype)
    inside, outside = (oracle.from_float32(np.full(grad_output.shape, value), dtype) for value in (0, 2))
    assert_same_bits(htg.hardtanh_grad(to_tensor(grad_output), to_tensor(inside)), grad_output)
    assert_same_bits(htg.hardtanh_grad(to_tensor(grad_output), to_tensor(outside)), np.zeros_like(grad_output))


@pytest.mark.parametrize(
    "bounds", [(0.0, 0.0), (2.0**-149, 1.0), (-1.0, -(2.0**-149)), (-(2.0**-140), 2.0**-140)], ids=str
)
@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_compare_of_subnormals(dtype, bounds):
    """Subnormals, of the bounds too, are not taken for zero when they are compared or widened."""
    subnormals = np.arange(2 ** MOST_MANTISSA[dtype], dtype=BITS[dtype])[: 2**10]
    top = BITS[dtype](1) << BITS[dtype](8 * subnormals.itemsize - 1)
    x = np.concatenate([subnormals, subnormals | top])
    x = x if dtype == "bfloat16" else x.view(dtype)
    check(oracle.random_inputs(x.size, dtype)[0], x, *bounds)


@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_open_boundary_at_zero(dtype):
    """boundary="open" with a bound of 0 compares with the smallest subnormal of float32: 0 itself is stopped."""
    x = oracle.from_float32(np.array([-1, -0.0, 0.0, 1e-3, 6, 7], np.float32), dtype)
    gradient = ms.grad(htg.Hardtanh(0.0, 6.0, boundary="open"))(to_tensor(x))
    assert_same_bits(gradient, oracle.from_float32(np.array([0, 0, 0, 1, 0, 0], np.float32), dtype))


@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_widening_is_exact(dtype):
    """Cast to float32 keeps the value: bounds on both sides of it let it pass, and no other."""
    x = patterns(dtype)
    wide = oracle.to_float32(x)
    for value in (2.0**-24, 2.0**-14, 0.333251953125, 0.69921875, 1.0, -3.140625, 65280.0):
        (value,) = oracle.to_float32(oracle.from_float32(np.array([value]), dtype))
        bounds = [float(np.nextafter(value, np.float32(side))) for side in (-np.inf, np.inf)]
        assert 0 < np.count_nonzero((wide >= bounds[0]) & (wide <= bounds[1])) <= 2
        check(np.full_like(x, x[15000]), x, *bounds)


class Operator(nn.Cell):
    """The operator inside construct."""

    def construct(self, grad_output, x):
        """Return the operator's output."""
        return htg.hardtanh_grad(grad_output, x)


@pytest.mark.parametrize("start", (1, 3, 16))
@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_view_at_any_element(mode, dtype, start):
    """A contiguous view may start at any element of its storage."""
    grad_output, x = oracle.random_inputs(5000, dtype)
    views = [to_tensor(array)[start:] for array in (grad_output, x)]
    assert all(view.is_contiguous() and view.storage_offset() == start for view in views)
    assert_same_bits(Operator()(*views), oracle.hardtanh_grad(grad_output[start:], x[start:], -1, 1))


def through_c_api(*arguments):
    """What c_api.py finds wrong, in a process without MindSpore."""
    library, _ = vendor.find()
    command = [sys.executable, C_API, library, *arguments]
    run = subprocess.run([*map(str, command)], check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


def test_no_byte_outside_the_tensors():
    """DataCopyPad copies tails exactly, from and to any address; nothing before or behind the tensors changes."""
    assert through_c_api("guards") == []


@pytest.mark.parametrize("elements", (3_000_001, 2**31 + 12345))
def test_large_tensor(elements):
    """More elements than 32 bits count; needs 13 GB on the device."""
    if elements > 2**31 and not is_hardware():
        pytest.skip("needs an Atlas A2: no /dev/davinci*, or the virtual NPU in its place")
    assert through_c_api("large", elements) == []


def test_library_that_serves(tmp_path):
    """MindSpore takes the operator from the vendor package that the doctor names, not from CANN's own library."""
    doctor = [sys.executable, "-m", "ms_hardtanh_grad", "--json"]
    printed = subprocess.run(doctor, check=True, capture_output=True, text=True).stdout
    report = json.loads(printed[printed.index("{") :])  # MindSpore says how it allocates before
    assert report["ok"]
    # Without the package, which looks into the library itself; the loader notes in which it finds the function.
    command = [sys.executable, RAW_OPERATOR, "GRAPH_MODE", "O0"]
    loader = {"LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": str(tmp_path / "bindings")}
    subprocess.run(command, cwd=tmp_path, env=os.environ | loader, check=True, capture_output=True)
    found = set()
    for path in tmp_path.glob("bindings.*"):
        found |= set(re.findall(rf" to (\S+) \[\d+\]: normal symbol `{contract.ACLNN_NAME}'", path.read_text()))
    assert {Path(name).resolve() for name in found} == {Path(report["libraries"]["Ascend"]).resolve()}
