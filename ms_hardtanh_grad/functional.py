"""Hardtanh and its gradient as functions, for PyNative, `construct` in GRAPH_MODE and `@ms.jit`."""

from mindspore import Tensor
from mindspore.ops import constexpr

from ms_hardtanh_grad import contract, registration

# The graph compiler calls these while it compiles: they carry the checks and the choice of the device target, which
# are Python, into a graph.
_refuse_missing = constexpr(contract.refuse_missing)
_refuse_non_tensor = constexpr(contract.refuse_non_tensor)
_bounds = constexpr(contract.check_bounds)


class _Operator(constexpr(registration.operator, get_instance=False)):
    """The operator of a name; only a call in PyNative comes through __call__."""

    def __call__(self, name):
        return registration.operator(name, eager=True)


_operator = _Operator()


def _check_tensor(name, value):
    if value is None:
        _refuse_missing(name)
    if not isinstance(value, Tensor):
        _refuse_non_tensor(name)


def hardtanh(x, min_val=contract.DEFAULT_MIN, max_val=contract.DEFAULT_MAX, boundary="closed"):
    """Clamp every element of `x` to [min_val, max_val]; differentiable any number of times.

    An element outside becomes the bound, rounded to x's dtype; one inside, and NaN, keeps its bits. The gradient is
    `hardtanh_grad` with the bounds as `boundary` says.

    Args:
        x (Tensor): float32, float16 or bfloat16, of 0 to 8 dimensions, empty allowed.
        min_val (float): lower bound, read as float32. Default: -1.0.
        max_val (float): upper bound, read as float32, at least `min_val`. Default: 1.0.
        boundary (str): "closed": an element equal to a bound passes its gradient, as HardtanhGrad does on Atlas A2;
            "open": it gets 0, as PyTorch's hardtanh_backward does. Default: "closed".

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ParamNullptrError: `x` is None.
        ParamInvalidError: `x` is no Tensor, or its dtype or number of dimensions is not accepted.
        ValueError: a bound is NaN, `min_val` is greater than `max_val`, or `boundary` is unknown.
        TypeError: a bound is not a real number.
    """
    _check_tensor("x", x)
    low, high = _bounds(min_val, max_val, boundary)
    return _operator("open" if boundary == "open" else "closed")(x, low, high)


def hardtanh_grad(grad_output, x, min_val=contract.DEFAULT_MIN, max_val=contract.DEFAULT_MAX):
    """The operator HardtanhGrad: `grad_output` where min_val <= x <= max_val or x is NaN, +0.0 elsewhere.

    x is compared in float32, and grad_output is selected bit for bit: out = 0 if x > max_val or x < min_val, else
    grad_output. Differentiable in `grad_output`; the gradient in `x` is zero.

    Args:
        grad_output (Tensor): the gradient of Hardtanh's output; x's shape and dtype.
        x (Tensor): Hardtanh's input; float32, float16 or bfloat16, of 0 to 8 dimensions, empty allowed.
        min_val (float): lower bound, read as float32. Default: -1.0.
        max_val (float): upper bound, read as float32, at least `min_val`. Default: 1.0.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ParamNullptrError: an argument is None.
        ParamInvalidError: an argument is no Tensor, or a dtype or shape is not accepted, or they differ.
        ValueError: a bound is NaN, or `min_val` is greater than `max_val`.
        TypeError: a bound is not a real number.
    """
    _check_tensor("grad_output", grad_output)
    _check_tensor("x", x)
    low, high = _bounds(min_val, max_val)
    return _operator("hardtanh_grad")(grad_output, x, low, high)
