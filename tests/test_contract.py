"""The Python contract: the infer pair and the bounds, without running an operator."""

import numpy as np
import oracle
import pytest
from mindspore import dtype as mstype

from ms_hardtanh_grad import contract

NAMES = contract.INPUT_NAMES


@pytest.mark.parametrize(
    "grad_output, x",
    [
        ([], []),
        ([2, 3], [2, 3]),
        ([0, 3], [0, 3]),
        ([-1, 3], [2, -1]),
        ([-2], [2, 3]),
        ([4, 5], [-2]),
        ([-2], [-2]),
        ([1] * 8, [1] * 8),
    ],
)
def test_infer_shape(grad_output, x):
    """The output has x's shape, also where it is not known yet; the attributes' shapes are ignored."""
    assert contract.infer_shape(NAMES, grad_output, x, [], []) == x


@pytest.mark.parametrize(
    "grad_output, x, text",
    [
        ([2, 3], [3, 2], r"grad_output: got shape \(2, 3\), accepts that of x, which is \(3, 2\)"),
        ([2], [2, 1], "grad_output: got shape"),
        ([-1, 3], [2, 4], "grad_output: got shape"),
        ([], [1], "grad_output: got shape"),
        ([1] * 9, [1] * 9, "grad_output: got 9 dimensions, accepts at most 8"),
        ([-2], [1] * 9, "x: got 9 dimensions"),
        ([-1] * 9, [-2], "grad_output: got 9 dimensions"),
    ],
)
def test_infer_shape_refuses(grad_output, x, text):
    """What can be seen to be wrong already is refused."""
    with pytest.raises(contract.ParamInvalidError, match=text):
        contract.infer_shape(NAMES, grad_output, x, [], [])


def test_infer_dtype():
    """The output has x's dtype; every other dtype is refused."""
    for name, dtype in vars(mstype).items():
        if not isinstance(dtype, type(mstype.float32).__base__):
            continue
        tensor = mstype.TensorType(dtype)
        if name in contract.DTYPES:
            assert contract.infer_dtype(NAMES, tensor, tensor, dtype, dtype) == tensor
        elif str(dtype).lower() not in contract.DTYPES:
            with pytest.raises(contract.ParamInvalidError, match="grad_output: got .*, accepts float32"):
                contract.infer_dtype(NAMES, tensor, tensor)
    float32, float16 = mstype.TensorType(mstype.float32), mstype.TensorType(mstype.float16)
    with pytest.raises(contract.ParamInvalidError, match="grad_output: got float16, accepts the dtype of x"):
        contract.infer_dtype(NAMES, float16, float32)


@pytest.mark.parametrize("bounds", oracle.BOUNDS, ids=str)
def test_bounds(bounds):
    """Bounds are rounded to float32; the open interval is the closed one of their inner neighbours."""
    closed = contract.check_bounds(*bounds)
    assert closed == tuple(map(np.float32, bounds))
    opened = contract.open_bounds(*closed)
    assert opened == oracle.open_interval(*bounds)
    assert all(type(bound) is float for bound in closed + opened)
