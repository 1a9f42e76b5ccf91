"""What the Python tests share: the target and mode they run in, and exact ways between NumPy and MindSpore."""

import os

import mindspore as ms
import numpy as np
import pytest
from mindspore.common.np_dtype import bfloat16 as np_bfloat16


def pytest_addoption(parser):
    """Let one test file run on either target, and on each way to compile for it."""
    parser.addoption("--device", default="CPU", choices=("CPU", "Ascend"), help="MindSpore device_target")
    parser.addoption("--jit-level", default="O0", choices=("O0", "O1"), help="MindSpore jit_level in GRAPH_MODE")


@pytest.fixture(scope="session")
def device(request, tmp_path_factory):
    """The device_target, set for the session."""
    target = request.config.getoption("--device")
    # Where MindSpore compiles what calls an aclnn function; else in the working directory, which tests change.
    os.environ["MS_COMPILER_CACHE_PATH"] = str(tmp_path_factory.mktemp("cache"))
    ms.set_device(target)
    return target


@pytest.fixture(params=("GRAPH_MODE", "PYNATIVE_MODE"))
def mode(request, device):
    """Each of MindSpore's modes, set for the test."""
    ms.set_context(mode=getattr(ms, request.param))
    if request.param == "GRAPH_MODE":
        ms.set_context(jit_config={"jit_level": request.config.getoption("--jit-level")})
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE)


def to_tensor(array):
    """A Tensor with the bits of `array`; uint16 becomes bfloat16."""
    return ms.Tensor(array.view(np_bfloat16) if array.dtype == np.uint16 else array)


def to_numpy(tensor):
    """The bits of `tensor`; bfloat16 becomes uint16."""
    array = tensor.asnumpy()
    return array.view(np.uint16) if array.dtype == np_bfloat16 else array


def assert_same_bits(actual, expected):
    """Compare a Tensor with a NumPy array byte for byte, shape and dtype included."""
    actual = to_numpy(actual)
    assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    same = np.ascontiguousarray(actual).tobytes() == np.ascontiguousarray(expected).tobytes()
    assert same, f"{np.count_nonzero(actual != expected)} of {actual.size} elements differ"
