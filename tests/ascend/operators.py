"""Compares the elementary operators of the virtual NPU with NumPy; prints as JSON what failed and which were called.

Inputs are contiguous and strided, of three floating-point types and of integers.
"""

import json

import mindspore as ms
import numpy as np
from call_log import lines
from mindspore import Parameter, Tensor, mint, nn, ops

FLOATS = {"float32": 1e-6, "float16": 1e-3, "bfloat16": 8e-3}  # a unit in the last place
UNARY = {
    "neg": np.negative,
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": np.reciprocal,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "isfinite": np.isfinite,
    "logical_not": np.logical_not,
}
BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "pow": np.power,
    "eq": np.equal,
    "ne": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
}
IN_PLACE = {
    "add": lambda a, b: a.copy().add_(b),
    "sub": lambda a, b: a.copy().sub_(b),
    "mul": lambda a, b: a.copy().mul_(b),
    "div": lambda a, b: a.copy().div_(b),
}
failures = []


def compare(name, actual, expected, tolerance):
    """Note a result that is not the expected one, relative to its size."""
    actual = actual.astype(ms.float32).asnumpy() if actual.dtype == ms.bfloat16 else actual.asnumpy()
    same = actual.shape == np.shape(expected) and np.allclose(actual, expected, tolerance, tolerance, equal_nan=True)
    if not same:
        failures.append(f"{name}: {actual} is not {expected}")


def check(name, function, reference, arrays, dtype="float32", tolerance=0.0):
    """Compare function on tensors with reference on float64 arrays that hold the same values."""
    tensors = [Tensor(array).astype(getattr(ms, dtype)) for array in arrays]
    rounded = [tensor.astype(ms.float32).asnumpy().astype(np.float64) for tensor in tensors]
    compare(f"{name} {dtype}", function(*tensors), reference(*rounded), tolerance)
    if all(array.ndim > 1 for array in arrays):
        swapped = [tensor.transpose(1, 0) for tensor in tensors]
        rounded = [array.T for array in rounded]
        compare(f"{name} {dtype} strided", function(*swapped), reference(*rounded), tolerance)


def with_scalar(function):
    """The function of two arguments with a number as the second."""
    return lambda a: function(a, 1.5)


def check_elementwise(rng):
    """The operators that take elements one by one."""
    x, y = rng.uniform(0.5, 2, (2, 5, 7)).astype(np.float32)
    y[0] = x[0]
    for dtype, tolerance in FLOATS.items():
        for name, reference in UNARY.items():
            check(name, getattr(mint, name), reference, [x], dtype, tolerance)
        for name, reference in BINARY.items():
            check(name, getattr(mint, name), reference, [x, y], dtype, tolerance)
    for name in set(BINARY) - {"maximum", "minimum", "logical_and", "logical_or"}:
        check(f"{name} scalar", with_scalar(getattr(mint, name)), with_scalar(BINARY[name]), [x], tolerance=1e-6)
    check("scalar pow", lambda a: mint.pow(2.0, a), lambda a: 2.0**a, [x], tolerance=1e-6)
    check("broadcast", mint.add, np.add, [x, y[:1]], tolerance=1e-6)
    for name, function in IN_PLACE.items():
        check(f"{name} in place", function, BINARY[name], [x, y], tolerance=1e-6)
    x -= 1
    check("relu", mint.nn.functional.relu, lambda a: np.maximum(a, 0), [x])
    check("relu gradient", ms.grad(mint.nn.functional.relu), lambda a: a > 0, [x])
    check("clamp", lambda a: mint.clamp(a, -0.2, 0.3), lambda a: np.clip(a, np.float32(-0.2), np.float32(0.3)), [x])
    check("where", lambda a, b: mint.where(a > b, a, b), np.maximum, [x, y])
    check("masked_fill", lambda a: ops.masked_fill(a, a > 0, 2.0), lambda a: np.where(a > 0, 2, a), [x])
    for dtype in FLOATS:
        check(
            "hardtanh",
            lambda a: mint.nn.functional.hardtanh(a, -0.25, 0.5),
            lambda a: np.clip(a, -0.25, 0.5),
            [x],
            dtype,
        )


def check_casts(rng):
    """Conversions between types, and copies that keep the type."""
    values = rng.uniform(-300, 300, 50).astype(np.float32)
    for dtype, numpy_dtype in (("float16", np.float16), ("int32", np.int32), ("int64", np.int64)):
        compare(f"cast to {dtype}", Tensor(values).astype(getattr(ms, dtype)), values.astype(numpy_dtype), 0)
        compare(
            f"cast from {dtype}", Tensor(values.astype(numpy_dtype)).astype(ms.float32), values.astype(numpy_dtype), 0
        )
    compare("cast to bool", Tensor(np.array([0.0, 2.0], np.float32)).astype(ms.bool_), np.array([False, True]), 0)
    # 1 + 2^-8 is the middle of two bfloat16 values, and the even one of them is 1.
    halves = np.array([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20], np.float32)
    compare("rounding to bfloat16", Tensor(halves).astype(ms.bfloat16), np.array([1, 1 + 2**-6, 1 + 2**-7]), 0)


def check_shapes(rng):
    """The operators that move elements, make them, or reduce dimensions."""
    x, y = rng.standard_normal((2, 4, 6)).astype(np.float32)
    index = rng.integers(0, 4, (3, 6))
    rows = Tensor(index)
    check("permute", lambda a: mint.permute(a, (1, 0)).contiguous(), np.transpose, [x])
    check("expand", lambda a: mint.broadcast_to(a, (2, -1, -1)).contiguous(), lambda a: np.stack((a, a)), [x])
    check("tile", lambda a: mint.tile(a, (2, 3, 1)), lambda a: np.tile(a, (2, 3, 1)), [x])
    check("cat", lambda a, b: mint.cat((a, b), 1), lambda a, b: np.concatenate((a, b), 1), [x, y])
    check("sum", mint.sum, np.sum, [x], tolerance=1e-6)
    check("sum of a dimension", lambda a: mint.sum(a, 1, True), lambda a: a.sum(1, keepdims=True), [x], tolerance=1e-6)
    check("mean", lambda a: mint.mean(a, 0), lambda a: a.mean(0), [x], tolerance=1e-6)
    check("amax", lambda a: ops.amax(a, 1), lambda a: a.max(1), [x])
    check("argmax", lambda a: mint.argmax(a, 1), lambda a: a.argmax(1), [x])
    compare("gather", mint.gather(Tensor(x), 0, rows), np.take_along_axis(x, index, 0), 0)
    added = x.astype(np.float64)
    np.add.at(added, (index, np.arange(6)), y[:3])
    compare("scatter_add", mint.scatter_add(Tensor(x), 0, rows, Tensor(y[:3].copy())), added, 1e-6)
    compare("ones", mint.ones((2, 3)), np.ones((2, 3)), 0)
    compare("zeros", mint.zeros((2, 3)), np.zeros((2, 3)), 0)
    compare("full", mint.full((2, 3), 1.5), np.full((2, 3), 1.5), 0)


def check_products(rng):
    """Matrix products."""
    x, y = rng.standard_normal((2, 5, 5)).astype(np.float32)
    for dtype, tolerance in FLOATS.items():
        check("mm", mint.mm, np.matmul, [x, y], dtype, 4 * tolerance)
        check("matmul", mint.matmul, np.matmul, [x, y], dtype, 4 * tolerance)
        check(
            "addmm",
            lambda a, b: mint.addmm(a, a, b, beta=2, alpha=3),
            lambda a, b: 2 * a + 3 * (a @ b),
            [x, y],
            dtype,
            16 * tolerance,
        )


def check_network_operators(rng):
    """What networks add: biases, sums of gradients, the loss and its gradient."""
    x = rng.standard_normal((4, 6)).astype(np.float32)
    probabilities = np.exp(x.astype(np.float64))
    probabilities /= probabilities.sum(1, keepdims=True)
    labels = np.array([0, 5, 2, 2])
    hot = np.eye(6, dtype=np.float32)[labels]
    check("bias_add", ops.BiasAdd(), np.add, [x, x[0]], tolerance=1e-6)
    check(
        "bias_add in NCHW",
        lambda a, b: ops.BiasAdd()(a.reshape(2, 3, 2, 2), b).reshape(4, 6),
        lambda a, b: (a.reshape(2, 3, 2, 2) + b[:, None, None]).reshape(4, 6),
        [x, x[0, :3]],
        tolerance=1e-6,
    )
    check("bias gradient", ms.grad(lambda a, b: ops.BiasAdd()(a, b), 1), lambda a, b: np.full(6, 4), [x, x[0]])
    half = nn.Dense(6, 3).to_float(ms.float16)
    weight = half.weight.astype(ms.float16).asnumpy()
    compare("gradient in float16", ms.grad(half)(Tensor(x)), np.tile(weight.sum(0), (4, 1)), 4e-3)
    check("addn", lambda a: ops.addn([a, a, a]), lambda a: 3 * a, [x], tolerance=1e-6)
    compare("one_hot", ops.OneHot()(Tensor(labels), 6, Tensor(1.0), Tensor(0.0)), hot, 0)
    compare("log_softmax", mint.nn.functional.log_softmax(Tensor(x), 1), np.log(probabilities), 1e-6)
    loss, gradient = ops.SoftmaxCrossEntropyWithLogits()(Tensor(x), Tensor(hot))
    compare("cross entropy", loss, -np.log(probabilities[range(4), labels]), 1e-6)
    compare("cross entropy gradient", gradient, probabilities - hot, 1e-6)
    compare("softmax", ops.softmax(Tensor(x)), probabilities, 1e-6)
    log_gradient = ms.grad(lambda a: (mint.nn.functional.log_softmax(a, 1) * Tensor(x)).sum())(Tensor(x))
    compare("log_softmax gradient", log_gradient, x - probabilities * x.sum(1, keepdims=True), 1e-5)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    compare("gradient of the loss", ms.grad(loss)(Tensor(x), Tensor(labels)), (probabilities - hot) / 4, 1e-6)
    mean = ms.grad(lambda a: ops.cross_entropy(a, Tensor(labels)))(Tensor(x))
    compare("mean cross entropy gradient", mean, (probabilities - hot) / 4, 1e-6)


def parameters(*arrays):
    """Parameters with these values."""
    return [Parameter(Tensor(np.float32(array)), name=f"parameter_{i}") for i, array in enumerate(arrays)]


def check_optimizers(rng):
    """The updates, against their definitions; momentum with Nesterov's step and AdamW are not on CPU."""
    start, gradient, old = rng.uniform(0.5, 2, (3, 6)).astype(np.float32)
    g = Tensor(gradient)

    variable, moment = parameters(start, old)
    ops.ApplyMomentum(use_nesterov=True)(variable, moment, Tensor(0.1), g, Tensor(0.9))
    compare("momentum", moment, 0.9 * old + gradient, 1e-6)
    compare("Nesterov", variable, start - 0.1 * (gradient + 0.9 * (0.9 * old + gradient)), 1e-6)

    variable, moment, first = parameters(start, old, np.ones(6))
    update = ops.SGD(dampening=0.5, weight_decay=0.25)
    value, velocity = start.astype(np.float64), None
    for _ in range(3):
        update(variable, g, Tensor(0.1), moment, Tensor(0.9), first)
        decayed = gradient + 0.25 * value
        velocity = decayed if velocity is None else 0.9 * velocity + 0.5 * decayed
        value -= 0.1 * velocity
    compare("SGD", variable, value, 1e-6)

    variable, first, second = parameters(start, old, old)
    ops.Adam()(variable, first, second, *map(Tensor, (0.8, 0.9, 0.1, 0.8, 0.9, 1e-3)), g)
    first_moment, second_moment = 0.8 * old + 0.2 * gradient, 0.9 * old + 0.1 * gradient**2
    rate = 0.1 * np.sqrt(1 - 0.9) / (1 - 0.8)
    compare("Adam", variable, start - rate * first_moment / (np.sqrt(second_moment) + 1e-3), 1e-6)
    compare("Adam's second moment", second, second_moment, 1e-6)

    variable, first, second = parameters(start, old, old)
    ops.AdamWeightDecay()(variable, first, second, *map(Tensor, (0.1, 0.8, 0.9, 1e-3, 0.2)), g)
    step = first_moment / (np.sqrt(second_moment) + 1e-3) + 0.2 * start
    compare("AdamWeightDecay", variable, start - 0.1 * step, 1e-6)

    (variable,) = parameters(start)
    update = mint.optim.AdamW([variable], 0.1, (0.8, 0.9), 1e-3, 0.2)
    value, first, second = start.astype(np.float64), 0, 0
    for step in range(1, 4):
        update((Tensor(gradient * step),))
        first = 0.8 * first + 0.2 * gradient * step
        second = 0.9 * second + 0.1 * (gradient * step) ** 2
        value -= 0.1 * (first / (1 - 0.8**step) / (np.sqrt(second / (1 - 0.9**step)) + 1e-3) + 0.2 * value)
    compare("AdamW", variable, value, 1e-6)

    (variable,) = parameters(start)
    ops.assign(variable, g)
    ops.assign_add(variable, g)
    compare("assign", variable, 2 * gradient, 1e-6)


class GraphNet(nn.Cell):
    """What a graph makes operators of, where PyNative makes views or other operators."""

    def __init__(self):
        """Make the built-in cell whose gradient is computed."""
        super().__init__()
        self.gradient = ms.grad(nn.Hardtanh())

    def construct(self, x):
        """Return the results; MindSpore finds the first three equal, and copies."""
        return (
            x.T,
            mint.permute(x, (1, 0)),
            ops.transpose(x, (1, 0)),
            ops.broadcast_to(x, (2, 4, 6)) + 0.0,
            ops.reshape(x, (3, 8)),
            ops.isnan(x),
            ops.softmax(x),
            ops.ReduceSum()(x),
            ops.ReduceMean()(x),
            x.argmax(1),
            self.gradient(x),
        )


def check_graph(rng):
    """The operators that only GRAPH_MODE runs."""
    ms.set_context(mode=ms.GRAPH_MODE, jit_config={"jit_level": "O0"})
    x = rng.standard_normal((4, 6)).astype(np.float32)
    x[1, 1] = 3
    expected = (
        x.T,
        x.T,
        x.T,
        np.stack((x, x)),
        x.reshape(3, 8),
        np.isnan(x),
        np.exp(x) / np.exp(x).sum(1, keepdims=True),
        x.sum(),
        x.mean(),
        x.argmax(1),
        np.abs(x) < 1,
    )
    for i, (result, value) in enumerate(zip(GraphNet()(Tensor(x)), expected)):
        compare(f"graph {i}", result, value, 1e-6)


if __name__ == "__main__":
    ms.set_device("Ascend")
    for part in (
        check_elementwise,
        check_casts,
        check_shapes,
        check_products,
        check_network_operators,
        check_optimizers,
        check_graph,
    ):
        part(np.random.default_rng(0))
    called = [line.split("/") for line in lines() if "/" in line]
    print(json.dumps({"failures": failures, "calls": sorted({name for _, name in called})}))
