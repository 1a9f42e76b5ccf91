"""Against MindSpore's built-in operators on CPU: equal, except for the differences that are stated here."""

import mindspore as ms
import numpy as np
import oracle
import pytest
from conftest import to_numpy, to_tensor
from mindspore import nn, ops

import ms_hardtanh_grad as htg


class Clamp(nn.Cell):
    """ops.clamp as a cell."""

    def __init__(self, min_val, max_val):
        """Keep the bounds."""
        super().__init__()
        self.bounds = min_val, max_val

    def construct(self, x):
        """Return the clamped input."""
        return ops.clamp(x, *self.bounds)


class FunctionalHardtanh(nn.Cell):
    """ops.hardtanh as a cell."""

    def __init__(self, min_val, max_val):
        """Keep the bounds."""
        super().__init__()
        self.bounds = min_val, max_val

    def construct(self, x):
        """Return the clamped input."""
        return ops.hardtanh(x, *self.bounds)


def relu6(min_val, max_val):
    """nn.ReLU6, whose bounds are fixed."""
    assert (min_val, max_val) == (0.0, 6.0)
    return nn.ReLU6()


BUILTINS = {
    "nn.Hardtanh": (nn.Hardtanh, (-1.0, 1.0)),
    "nn.Hardtanh(1.25, 2.5)": (nn.Hardtanh, (1.25, 2.5)),
    "ops.hardtanh": (FunctionalHardtanh, (-1.0, 1.0)),
    "ops.clamp": (Clamp, (-1.0, 1.0)),
    "nn.ReLU6": (relu6, (0.0, 6.0)),
}
# What a built-in's gradient of ones is on its lower and its upper bound.
ON_BOUNDS = {
    "nn.Hardtanh": [0.5, 0.5],
    "nn.Hardtanh(1.25, 2.5)": [0.5, 0.5],
    "ops.hardtanh": [0.5, 0.5],
    "ops.clamp": [1, 1],
    "nn.ReLU6": [0, 1],
}
# What a built-in makes of NaN: its output and its gradient of ones.
FOR_NAN = {
    "nn.Hardtanh": (-1, 1),
    "nn.Hardtanh(1.25, 2.5)": (1.25, 1),
    "ops.hardtanh": (-1, 1),
    "ops.clamp": (-1, 0),
    "nn.ReLU6": (np.nan, 0),
}


def values(dtype, min_val, max_val):
    """Normal numbers around the bounds and infinities, without NaN and without the bounds."""
    generator = np.random.default_rng(0)
    x = generator.uniform(min_val - 2, max_val + 2, 5000).astype(np.float32)
    x = oracle.from_float32(np.concatenate([x, [np.inf, -np.inf]]), dtype)
    wide = oracle.to_float32(x)
    return x[(wide != min_val) & (wide != max_val)]


@pytest.fixture(autouse=True)
def cpu_only(device):
    """These are facts about the CPU target."""
    if device != "CPU":
        pytest.skip("states what MindSpore's CPU operators do")


@pytest.mark.parametrize("dtype", ("float32", "float16"))
@pytest.mark.parametrize("name", BUILTINS)
def test_equal_off_the_bounds(mode, name, dtype):
    """Forward and gradient agree wherever the input is neither a bound nor NaN."""
    make, bounds = BUILTINS[name]
    x = to_tensor(values(dtype, *bounds))
    builtin, ours = make(*bounds), htg.Hardtanh(*bounds)
    np.testing.assert_array_equal(to_numpy(ours(x)), to_numpy(builtin(x)))
    np.testing.assert_array_equal(to_numpy(ms.grad(ours)(x)), to_numpy(ms.grad(builtin)(x)))


@pytest.mark.parametrize("name", BUILTINS)
def test_difference_on_the_bounds(mode, name):
    """On a bound the package passes (closed) or stops (open) the gradient; the built-ins do as stated above."""
    make, bounds = BUILTINS[name]
    x = ms.Tensor(bounds, ms.float32)
    np.testing.assert_array_equal(ms.grad(make(*bounds))(x).asnumpy(), ON_BOUNDS[name])
    np.testing.assert_array_equal(ms.grad(htg.Hardtanh(*bounds))(x).asnumpy(), [1, 1])
    np.testing.assert_array_equal(ms.grad(htg.Hardtanh(*bounds, boundary="open"))(x).asnumpy(), [0, 0])


@pytest.mark.parametrize("name", BUILTINS)
def test_difference_for_nan(mode, name):
    """NaN stays NaN and passes its gradient here; the built-ins do as stated above."""
    make, bounds = BUILTINS[name]
    x = ms.Tensor([np.nan], ms.float32)
    output, gradient = FOR_NAN[name]
    np.testing.assert_array_equal(make(*bounds)(x).asnumpy(), [output])
    np.testing.assert_array_equal(ms.grad(make(*bounds))(x).asnumpy(), [gradient])
    np.testing.assert_array_equal(htg.Hardtanh(*bounds)(x).asnumpy(), [np.nan])
    np.testing.assert_array_equal(ms.grad(htg.Hardtanh(*bounds))(x).asnumpy(), [1])
