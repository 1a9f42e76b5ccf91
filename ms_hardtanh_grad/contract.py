"""The operator's contract in Python: names, dtypes, limits, defaults, errors, and the infer pair.

It mirrors the OpDef and the checks of the C API in custom_op/; a test holds the two against each other.
"""

import numpy as np

OP_TYPE = "HardtanhGrad"
ACLNN_NAME = "aclnnHardtanhBackward"
VENDOR_NAME = "ms_hardtanh_grad"
# The order of the C API; the OpDef calls them `grad` and `result` and takes them the other way round.
INPUT_NAMES = ("grad_output", "x")
OUTPUT_NAME = "y"
ATTR_NAMES = ("min_val", "max_val")
DEFAULT_MIN = -1.0
DEFAULT_MAX = 1.0
DTYPES = ("float32", "float16", "bfloat16")
MAX_DIMS = 8
BOUNDARIES = ("closed", "open")

UNKNOWN_DIM = -1
UNKNOWN_RANK = -2


class ParamNullptrError(ValueError):
    """An argument is missing (None): ACLNN_ERR_PARAM_NULLPTR."""

    code = 161001

    def __init__(self, message):
        """Put the code before the message."""
        super().__init__(f"[{self.code}] {message}")


class ParamInvalidError(ValueError):
    """An argument's dtype or shape is not accepted: ACLNN_ERR_PARAM_INVALID."""

    code = 161002

    def __init__(self, message):
        """Put the code before the message."""
        super().__init__(f"[{self.code}] {message}")


def refuse_missing(name):
    """Raise for an argument that is None."""
    raise ParamNullptrError(f"{name}: got None, accepts a Tensor of {', '.join(DTYPES)}")


def refuse_non_tensor(name):
    """Raise for an argument that is not a Tensor."""
    raise ParamInvalidError(f"{name}: got no Tensor, accepts a Tensor of {', '.join(DTYPES)}")


def check_bounds(min_val, max_val, boundary="closed"):
    """The bounds in float32, the type in which the operator compares, as Python floats.

    Raises:
        TypeError: a bound is not a real number.
        ValueError: a bound is NaN, min_val is greater than max_val, or `boundary` is unknown.
    """
    bounds = []
    for name, value in zip(ATTR_NAMES, (min_val, max_val)):
        if value is None:  # what the graph compiler passes for a variable
            raise TypeError(f"{name}: got no constant, accepts a real number that is known when a graph is compiled")
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise TypeError(f"{name}: got {type(value).__name__}, accepts a real number")
        with np.errstate(over="ignore"):
            bound = float(np.float32(value))
        if np.isnan(bound):
            raise ValueError(f"{name}: got NaN, accepts a number that can be compared")
        bounds.append(bound)
    if bounds[0] > bounds[1]:
        raise ValueError(f"min_val: got {min_val}, accepts at most max_val, which is {max_val}")
    if boundary not in BOUNDARIES:
        raise ValueError(f"boundary: got {boundary!r}, accepts {' or '.join(map(repr, BOUNDARIES))}")
    return tuple(bounds)


def open_bounds(min_val, max_val):
    """The closed interval that holds what the open interval of two float32 bounds holds: their inner neighbours.

    So one kernel serves both boundaries. The ends come back crossed where nothing lies between them.
    """
    infinity = np.float32(np.inf)
    return float(np.nextafter(np.float32(min_val), infinity)), float(np.nextafter(np.float32(max_val), -infinity))


def dims_compatible(left, right):
    """Whether two dimensions can be equal, -1 standing for one that is not known yet."""
    return left == right or UNKNOWN_DIM in (left, right)


def infer_shape(names, *shapes):
    """The output's shape: that of the last tensor of `names`.

    `shapes` are those of the tensors, then one per attribute, which are ignored. A dimension may be -1 and a whole
    shape [-2] while a graph is compiled for shapes that come later.

    Raises:
        ParamInvalidError: more than 8 dimensions, or shapes that differ.
    """
    shapes = shapes[: len(names)]
    for name, shape in zip(names, shapes):
        if len(shape) > MAX_DIMS:
            raise ParamInvalidError(f"{name}: got {len(shape)} dimensions, accepts at most {MAX_DIMS}")
    self_shape = shapes[-1]
    for name, shape in zip(names, shapes):
        if UNKNOWN_RANK in shape or UNKNOWN_RANK in self_shape:
            continue
        if len(shape) != len(self_shape) or not all(map(dims_compatible, shape, self_shape)):
            raise ParamInvalidError(
                f"{name}: got shape {tuple(shape)}, accepts that of {names[-1]}, which is {tuple(self_shape)}"
            )
    return self_shape


def infer_dtype(names, *dtypes):
    """The output's dtype: that of the last tensor of `names`.

    Raises:
        ParamInvalidError: a dtype that the operator does not have, or dtypes that differ.
    """
    dtypes = dtypes[: len(names)]
    spelled = [str(dtype.element_type() if hasattr(dtype, "element_type") else dtype).lower() for dtype in dtypes]
    for name, dtype in zip(names, spelled):
        if dtype not in DTYPES:
            raise ParamInvalidError(f"{name}: got {dtype}, accepts {', '.join(DTYPES)}")
    for name, dtype in zip(names, spelled):
        if dtype != spelled[-1]:
            raise ParamInvalidError(f"{name}: got {dtype}, accepts the dtype of {names[-1]}, which is {spelled[-1]}")
    return dtypes[-1]
