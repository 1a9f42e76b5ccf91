"""Hardtanh as a network cell, and the conversion of networks to it."""

import warnings

from mindspore import mint, nn

from ms_hardtanh_grad import contract
from ms_hardtanh_grad.functional import hardtanh


class Hardtanh(nn.Cell):
    """Clamps its input to [min_val, max_val]; a drop-in for nn.Hardtanh whose gradient is the custom operator.

    Args:
        min_val (float): lower bound, read as float32. Default: -1.0.
        max_val (float): upper bound, read as float32, at least `min_val`. Default: 1.0.
        boundary (str): whether an element equal to a bound passes its gradient ("closed") or gets 0 ("open").
            Default: "closed".

    Inputs:
        - **x** (Tensor) - float32, float16 or bfloat16, of 0 to 8 dimensions, empty allowed.

    Outputs:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: a bound is NaN, `min_val` is greater than `max_val`, or `boundary` is unknown.
        TypeError: a bound is not a real number.
    """

    def __init__(self, min_val=contract.DEFAULT_MIN, max_val=contract.DEFAULT_MAX, boundary="closed"):
        """Check the bounds and keep them."""
        super().__init__()
        contract.check_bounds(min_val, max_val, boundary)
        self.min_val = min_val
        self.max_val = max_val
        self.boundary = boundary

    def construct(self, x):
        """Return `x` clamped, see `hardtanh`."""
        return hardtanh(x, self.min_val, self.max_val, self.boundary)

    def extend_repr(self):
        """Show the bounds where a network is printed."""
        return f"min_val={self.min_val}, max_val={self.max_val}, boundary={self.boundary!r}"


def _replacement(cell, boundary, relu6):
    """The Hardtanh that stands for `cell`, or None where it stays."""
    kinds = (nn.Hardtanh, mint.nn.Hardtanh) + ((nn.ReLU6, mint.nn.ReLU6) if relu6 else ())
    if not isinstance(cell, kinds):
        return None
    if type(cell) not in kinds or getattr(cell, "inplace", False):
        # A subclass may do more, and an in-place cell's caller may rely on the input being overwritten.
        warnings.warn(f"convert leaves {type(cell).__name__} as it is: {cell}", stacklevel=3)
        return None
    bounds = (cell.min_val, cell.max_val) if isinstance(cell, kinds[:2]) else (0.0, 6.0)
    new = Hardtanh(*bounds, boundary=boundary)
    new.set_train(cell.training)
    new.add_flags(**cell.get_flags())  # mixed precision is one of them
    return new


def convert(net, boundary="closed", relu6=False):
    """Replace the Hardtanh cells of a network by the package's, in place.

    nn.Hardtanh and mint.nn.Hardtanh are replaced wherever they stand below `net`: as attributes, in SequentialCell
    and CellList, at any depth; a cell that is shared stays shared. Subclasses, and cells made with inplace=True, stay
    as they are, with a warning. Parameters and their names do not change, so a checkpoint saved before loads after.
    Convert before auto_mixed_precision at level O1, which rewrites every cell into a class of its own.

    Args:
        net (nn.Cell): the network; not itself a cell to be replaced, since a cell cannot replace itself in place.
        boundary (str): "closed" or "open", see `hardtanh`. Default: "closed".
        relu6 (bool): replace nn.ReLU6 and mint.nn.ReLU6 as well, as Hardtanh with bounds 0 and 6. Default: False.

    Returns:
        int, the number of cells that were replaced; a shared cell counts once.

    Raises:
        TypeError: `net` is no nn.Cell.
        ValueError: `net` is itself a cell to be replaced, or `boundary` is unknown.
    """
    if not isinstance(net, nn.Cell):
        raise TypeError(f"net: got {type(net).__name__}, accepts an nn.Cell")
    contract.check_bounds(contract.DEFAULT_MIN, contract.DEFAULT_MAX, boundary)
    if _replacement(net, boundary, relu6) is not None:
        raise ValueError(f"net: got {type(net).__name__} itself, accepts a network that holds it; use Hardtanh instead")
    replaced = {}
    for parent in [cell for _, cell in net.cells_and_names()]:
        # Not name_cells(): it lists a cell that stands under two names only once.
        for index, (name, child) in enumerate(list(parent._cells.items())):
            if id(child) not in replaced:
                new = _replacement(child, boundary, relu6)
                if new is None:
                    continue
                replaced[id(child)] = new
            if isinstance(parent, (nn.SequentialCell, nn.CellList)):
                parent[index] = replaced[id(child)]
            elif isinstance(parent, nn.CellDict):
                parent[name] = replaced[id(child)]
            else:
                setattr(parent, name, replaced[id(child)])
    return len(replaced)
