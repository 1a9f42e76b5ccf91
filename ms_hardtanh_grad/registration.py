"""Registers the operators in MindSpore for the device target that is set when they are first used."""

import threading
from functools import cache, partial
from pathlib import Path

import mindspore as ms
from mindspore import ops
from mindspore.ops import CustomRegOp, DataType, constexpr

from ms_hardtanh_grad import contract, vendor

# Holds the CPU kernels, and for both targets the functions that infer shapes while a graph runs.
CPU_LIBRARY = Path(__file__).parent / "libhardtanh_cpu.so"
DTYPE_FORMATS = {"float32": DataType.F32_Default, "float16": DataType.F16_Default, "bfloat16": DataType.BF16_Default}
# Per device target: the forward's and the gradient's function, and how attributes are passed: a "number" is an
# aclScalar* on Ascend.
FUNCTIONS = {
    "CPU": ("Hardtanh", contract.OP_TYPE, "float"),
    "Ascend": ("aclnnHardtanh", contract.ACLNN_NAME, "number"),
}
_PREPARING = threading.RLock()


def _custom(target, function, inputs, attribute_type, bprop):
    """An ops.Custom of `inputs`, then min_val and max_val as positional scalars."""
    info = CustomRegOp(function).target(target)
    for index, name in enumerate(inputs):
        info.input(index, name, "required")
    for name in contract.ATTR_NAMES:
        info.attr(name, "required", attribute_type)
    info.output(0, contract.OUTPUT_NAME, "required")
    for dtype in contract.DTYPES:
        info.dtype_format(*[DTYPE_FORMATS[dtype]] * (len(inputs) + 1))
    operator = ops.Custom(
        f"{CPU_LIBRARY}:{function}",
        partial(contract.infer_shape, inputs),
        partial(contract.infer_dtype, inputs),
        func_type="aot",
        bprop=bprop,
        reg_info=info.get_op_info(),
    )
    # The Python function checks while a graph is compiled. Shapes that come later are inferred by the library's
    # <function>InferShape: a graph with dynamic shapes cannot call Python when it runs.
    operator.add_prim_attr("cpp_infer_shape", True)
    return operator


def _zeros_like(x):
    """Zeros of x's shape and dtype in PyNative, where MindSpore 2.8 has no ZerosLike of bfloat16 on CPU."""
    return ops.zeros(x.shape, x.dtype)


@cache
def _operators(target, zeros_like=ops.zeros_like):
    """The operators of a device target by name."""
    if target not in FUNCTIONS:
        raise RuntimeError(f"device_target: got {target}, accepts {' or '.join(FUNCTIONS)}")
    if not CPU_LIBRARY.exists():
        raise RuntimeError(f"{CPU_LIBRARY} is missing: install the package with `pip install .`, which compiles it")
    if target == "Ascend":
        vendor.require()
    forward, backward, attribute_type = FUNCTIONS[target]
    open_bounds = constexpr(contract.open_bounds)

    def grad_bprop(grad_output, x, min_val, max_val, out, dout):
        return hardtanh_grad(dout, x, min_val, max_val), zeros_like(x), 0.0, 0.0

    def closed_bprop(x, min_val, max_val, out, dout):
        return hardtanh_grad(dout, x, min_val, max_val), 0.0, 0.0

    def open_bprop(x, min_val, max_val, out, dout):
        low, high = open_bounds(min_val, max_val)
        return hardtanh_grad(dout, x, low, high), 0.0, 0.0

    hardtanh_grad = _custom(target, backward, contract.INPUT_NAMES, attribute_type, grad_bprop)
    closed, opened = (
        _custom(target, forward, contract.INPUT_NAMES[-1:], attribute_type, bprop)
        for bprop in (closed_bprop, open_bprop)
    )
    return {"hardtanh_grad": hardtanh_grad, "closed": closed, "open": opened}


def _one_at_a_time(function):
    """`function` for callers in several Python threads: MindSpore breaks when two prepare a custom operator at once."""

    def call(*arguments):
        with _PREPARING:
            return function(*arguments)

    return call


@cache
def _eager_operators(target):
    """What a call in PyNative runs, by the same names."""
    if target == "CPU":
        return {name: _one_at_a_time(operator) for name, operator in _operators(target, _zeros_like).items()}
    operators = _operators(target)
    hardtanh_grad, closed, opened = operators["hardtanh_grad"], operators["closed"], operators["open"]

    # On Ascend a call in PyNative cannot carry the scalars, so every call is compiled. Its inputs are made contiguous
    # before: a graph that has seen a strided tensor fails on a later one of the same shape from the host.
    @ms.jit
    def grad_graph(grad_output, x, min_val, max_val):
        return hardtanh_grad(grad_output, x, min_val, max_val)

    @ms.jit
    def closed_graph(x, min_val, max_val):
        return closed(x, min_val, max_val)

    @ms.jit
    def open_graph(x, min_val, max_val):
        return opened(x, min_val, max_val)

    @_one_at_a_time
    def call_grad(grad_output, x, min_val, max_val):
        return grad_graph(grad_output.contiguous(), x.contiguous(), min_val, max_val)

    @_one_at_a_time
    def call_closed(x, min_val, max_val):
        return closed_graph(x.contiguous(), min_val, max_val)

    @_one_at_a_time
    def call_open(x, min_val, max_val):
        return open_graph(x.contiguous(), min_val, max_val)

    return {"hardtanh_grad": call_grad, "closed": call_closed, "open": call_open}


def operator(name, eager=False):
    """An operator of the device target that is set now.

    Args:
        name (str): "hardtanh_grad", or for the forward its boundary, "closed" or "open".
        eager (bool): what to call in PyNative, rather than what to put into a graph. Default: False.
    """
    with _PREPARING:
        return (_eager_operators if eager else _operators)(ms.get_context("device_target"))[name]
