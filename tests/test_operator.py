"""hardtanh, hardtanh_grad, Hardtanh and convert against the NumPy oracle, in both modes, on the target of --device."""

from concurrent.futures import ThreadPoolExecutor

import mindspore as ms
import numpy as np
import oracle
import pytest
from conftest import assert_same_bits, to_numpy, to_tensor
from mindspore import nn, ops

import ms_hardtanh_grad as htg

SHAPES = [
    (),
    (1,),
    (0,),
    (7,),
    (1025,),
    (3, 5),
    (0, 3),
    (4, 0, 2),
    (2, 3, 4),
    (2, 1, 3, 5),
    (1, 2, 3, 4, 5),
    (2, 2, 2, 2, 2, 2),
    (1, 2, 1, 3, 1, 2, 5),
    (2, 1, 2, 1, 2, 1, 2, 3),
]


class GradNet(nn.Cell):
    """hardtanh_grad inside construct."""

    def __init__(self, *bounds):
        """Keep the bounds."""
        super().__init__()
        self.bounds = bounds

    def construct(self, grad_output, x):
        """Return the operator's output."""
        return htg.hardtanh_grad(grad_output, x, *self.bounds)


class ForwardNet(nn.Cell):
    """The hardtanh function inside construct."""

    def __init__(self, *arguments):
        """Keep bounds and boundary."""
        super().__init__()
        self.arguments = arguments

    def construct(self, x):
        """Return the clamped input."""
        return htg.hardtanh(x, *self.arguments)


def dynamic(net, dtype, count, shape):
    """`net` compiled once for inputs whose `shape` is not known."""
    net.set_inputs(*[ms.Tensor(shape=shape, dtype=getattr(ms, dtype)) for _ in range(count)])
    return net


def backward(net, x, grad_output):
    """(output, gradient in x) of `net` with the sensitivity `grad_output`."""
    output = net(x)
    return output, ops.GradOperation(sens_param=True)(net)(x, grad_output)


@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_worked_example(mode, dtype):
    """The example of the contract."""
    example = oracle.WORKED_EXAMPLE
    grad_output, x, expected = (
        oracle.from_float32(np.array(example[key], np.float32), dtype) for key in ("grad_output", "self", "out")
    )
    bounds = example["min"], example["max"]
    assert_same_bits(htg.hardtanh_grad(to_tensor(grad_output), to_tensor(x), *bounds), expected)
    assert_same_bits(GradNet(*bounds)(to_tensor(grad_output), to_tensor(x)), expected)
    assert_same_bits(ms.jit(GradNet(*bounds))(to_tensor(grad_output), to_tensor(x)), expected)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_shapes(mode, dtype, shape):
    """From 0-d to 8 dimensions, and empty: operator, forward, and the forward's gradient."""
    grad_output, x = (a.reshape(shape) for a in oracle.random_inputs(int(np.prod(shape)), dtype, seed=len(shape)))
    assert_same_bits(
        GradNet(-1.0, 1.0)(to_tensor(grad_output), to_tensor(x)), oracle.hardtanh_grad(grad_output, x, -1, 1)
    )
    output, gradient = backward(ForwardNet(-1.0, 1.0), to_tensor(x), to_tensor(grad_output))
    assert_same_bits(output, oracle.hardtanh(x, -1, 1))
    assert_same_bits(gradient, oracle.hardtanh_grad(grad_output, x, -1, 1))


@pytest.mark.parametrize("bounds", oracle.BOUNDS, ids=str)
@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_bounds_and_special_values(mode, dtype, bounds):
    """Every pair of special values, under every pair of bounds, for both meanings of the boundary."""
    special = oracle.special_values(dtype)
    edges = oracle.from_float32(np.array(bounds, np.float32), dtype)
    x = np.concatenate([special, edges]).repeat(special.size)
    grad_output = np.tile(special, special.size + edges.size)
    assert_same_bits(
        htg.hardtanh_grad(to_tensor(grad_output), to_tensor(x), *bounds), oracle.hardtanh_grad(grad_output, x, *bounds)
    )
    for boundary, interval in (("closed", bounds), ("open", oracle.open_interval(*bounds))):
        output, gradient = backward(htg.Hardtanh(*bounds, boundary=boundary), to_tensor(x), to_tensor(grad_output))
        assert_same_bits(output, oracle.hardtanh(x, *bounds))
        assert_same_bits(gradient, oracle.hardtanh_grad(grad_output, x, *interval))


@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_all_16_bit_patterns(mode, dtype):
    """All 65,536 values of each 16-bit type against several bounds."""
    patterns = np.arange(65536, dtype=np.uint16)
    x = patterns if dtype == "bfloat16" else patterns.view(np.float16)
    grad_output = x[::-1].copy()
    for bounds in oracle.BOUNDS:
        expected = oracle.hardtanh_grad(grad_output, x, *bounds)
        assert_same_bits(htg.hardtanh_grad(to_tensor(grad_output), to_tensor(x), *bounds), expected)
        assert_same_bits(htg.hardtanh(to_tensor(x), *bounds), oracle.hardtanh(x, *bounds))


@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_every_length(mode, dtype):
    """Lengths 1..1100 and around each power of two up to 2^20, in one dynamically shaped graph per mode."""
    lengths = list(range(1, 1101)) + [2**power + step for power in range(11, 21) for step in (-1, 0, 1)]
    grad_output, x = oracle.random_inputs(max(lengths), dtype)
    expected = oracle.hardtanh_grad(grad_output, x, -1, 1)
    net = dynamic(GradNet(-1.0, 1.0), dtype, 2, (None,))
    for length in lengths:
        actual = net(to_tensor(grad_output[:length]), to_tensor(x[:length]))
        assert_same_bits(actual, expected[:length])


@pytest.mark.parametrize("shape", [(None, None), None], ids=["dynamic shape", "dynamic rank"])
@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_dynamic_shape(mode, dtype, shape):
    """One graph serves many shapes: operator, forward and gradient."""
    grad_net = dynamic(GradNet(-0.7, 0.7), dtype, 2, shape)
    net = dynamic(ForwardNet(-0.7, 0.7), dtype, 1, shape)
    gradient_net = dynamic(OnesGradient(ForwardNet(-0.7, 0.7)), dtype, 1, shape)
    for seed, actual_shape in enumerate([(2, 3), (1, 1), (17, 60), (0, 5), (2, 3)]):
        grad_output, x = (
            a.reshape(actual_shape) for a in oracle.random_inputs(int(np.prod(actual_shape)), dtype, seed)
        )
        expected = oracle.hardtanh_grad(grad_output, x, -0.7, 0.7)
        assert_same_bits(grad_net(to_tensor(grad_output), to_tensor(x)), expected)
        assert_same_bits(net(to_tensor(x)), oracle.hardtanh(x, -0.7, 0.7))
        ones = oracle.from_float32(np.ones(actual_shape, np.float32), dtype)
        assert_same_bits(gradient_net(to_tensor(x)), oracle.hardtanh_grad(ones, x, -0.7, 0.7))


class InFloat32(nn.Cell):
    """A cell's output as float32, since the CPU target lacks bfloat16 in the operators that autodiff adds."""

    def __init__(self, net):
        """Keep the cell."""
        super().__init__()
        self.net = net

    def construct(self, x):
        """Return the cell's output."""
        return self.net(x).astype(ms.float32)


class OnesGradient(nn.Cell):
    """The gradient of the sum of a cell's output, as a cell, so that its graph can take dynamic shapes."""

    def __init__(self, net):
        """Keep the gradient function."""
        super().__init__()
        self.gradient = ms.grad(InFloat32(net))

    def construct(self, x):
        """Return the gradient in x."""
        return self.gradient(x)


VIEWS = {
    "transposed": lambda a: a.transpose(1, 0),
    "sliced": lambda a: a[1::3, 2:9:2],
    "offset": lambda a: a[1:, 3:],
    "broadcast": lambda a: a[3:4].broadcast_to((5, 10)),
    "diagonal": lambda a: a.diagonal(),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_non_contiguous(mode, dtype, view):
    """Views in either argument, or in both, give what their copies give."""
    view = VIEWS[view]
    grad_output, x = (to_tensor(a.reshape(24, 10)) for a in oracle.random_inputs(240, dtype))
    assert not view(x).is_contiguous()
    arrays = [to_numpy(view(tensor)) for tensor in (grad_output, x)]
    expected = oracle.hardtanh_grad(*arrays, -1, 1)
    copies = [to_tensor(array.copy()) for array in arrays]
    for arguments in ((view(grad_output), view(x)), (copies[0], view(x)), (view(grad_output), copies[1])):
        assert_same_bits(htg.hardtanh_grad(*arguments), expected)
        # A graph for each: on Ascend, one that has seen a strided tensor fails on a contiguous one from the host.
        assert_same_bits(GradNet(-1.0, 1.0)(*arguments), expected)
    assert_same_bits(ForwardNet(-1.0, 1.0)(view(x)), oracle.hardtanh(arrays[1], -1, 1))


@pytest.mark.parametrize("boundary", ("closed", "open"))
@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_second_order(mode, dtype, boundary):
    """The gradient is differentiable in grad_output and constant in x, so d2(y^3)/dx2 = 6y inside and 0 outside."""
    x = oracle.from_float32(np.array([-2, -1, -0.5, 0, 0.25, 0.5, 1, 2, np.inf], np.float32), dtype)
    interval = (-1, 1) if boundary == "closed" else oracle.open_interval(-1, 1)
    first, second = (ms.grad(CubeNet(boundary)), ms.grad(FirstGradient(boundary)))
    inside = ~oracle.outside(x, *interval)
    wide = oracle.to_float32(x)
    y = np.clip(wide, -1, 1)
    assert_same_bits(first(to_tensor(x)), oracle.from_float32(np.where(inside, 3 * y * y, 0), dtype))
    assert_same_bits(second(to_tensor(x)), oracle.from_float32(np.where(inside, 6 * y, 0), dtype))


class CubeNet(nn.Cell):
    """sum(hardtanh(x)^3)."""

    def __init__(self, boundary):
        """Build the cell under test."""
        super().__init__()
        self.hardtanh = InFloat32(htg.Hardtanh(boundary=boundary))

    def construct(self, x):
        """Return the sum."""
        y = self.hardtanh(x)
        return (y * y * y).sum()


class FirstGradient(nn.Cell):
    """The sum of CubeNet's gradient."""

    def __init__(self, boundary):
        """Build the gradient function."""
        super().__init__()
        self.gradient = ms.grad(CubeNet(boundary))

    def construct(self, x):
        """Return the sum."""
        return self.gradient(x).astype(ms.float32).sum()


@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_operator_is_differentiable_in_grad_output(mode, dtype):
    """d/d grad_output passes where the operator passes; d/d x is +0.0 everywhere."""
    grad_output, x = oracle.random_inputs(999, dtype)
    sensitivity, _ = oracle.random_inputs(999, dtype, seed=1)
    gradient = ops.GradOperation(get_all=True, sens_param=True)(GradNet(0.0, 6.0))
    by_grad_output, by_x = gradient(to_tensor(grad_output), to_tensor(x), to_tensor(sensitivity))
    assert_same_bits(by_grad_output, oracle.hardtanh_grad(sensitivity, x, 0, 6))
    assert_same_bits(by_x, np.zeros_like(x))


def test_bounds_arrive_as_given(mode):
    """Calls with different bounds, in between other operators, keep their own."""
    grad_output, x = oracle.random_inputs(64, "float32")
    for bounds in oracle.BOUNDS * 2 + tuple((-b, b) for b in (0.125, 3.5, 1e-30, 1e30)):
        (to_tensor(x) + to_tensor(x) * 2).asnumpy()
        actual = htg.hardtanh_grad(to_tensor(grad_output), to_tensor(x), *bounds)
        assert_same_bits(actual, oracle.hardtanh_grad(grad_output, x, *bounds))


def test_convert(mode):
    """A converted network computes with the package's cells."""
    grad_output, x = oracle.random_inputs(60, "float32")
    net = nn.SequentialCell(nn.Hardtanh(-0.5, 0.5))
    assert htg.convert(net) == 1
    output, gradient = backward(net, to_tensor(x), to_tensor(grad_output))
    assert_same_bits(output, oracle.hardtanh(x, -0.5, 0.5))
    assert_same_bits(gradient, oracle.hardtanh_grad(grad_output, x, -0.5, 0.5))


def test_eight_python_threads(device):
    """Calls from several Python threads at once."""
    grad_output, x = oracle.random_inputs(1 << 16, "float16")
    expected = oracle.hardtanh_grad(grad_output, x, -1, 1)
    arguments = to_tensor(grad_output), to_tensor(x)

    def call(_):
        for _ in range(20):
            assert_same_bits(htg.hardtanh_grad(*arguments), expected)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(call, range(8)))


def test_same_bits_every_time(mode):
    """A hundred runs give one result."""
    grad_output, x = oracle.random_inputs(1 << 18, "float32")
    expected = oracle.hardtanh_grad(grad_output, x, -1, 1)
    arguments = to_tensor(grad_output), to_tensor(x)
    net = GradNet(-1.0, 1.0)
    for _ in range(100):
        assert_same_bits(net(*arguments), expected)
