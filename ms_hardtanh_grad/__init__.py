"""The gradient of Hardtanh as a custom operator for MindSpore."""

from importlib.metadata import version

from ms_hardtanh_grad import vendor  # before anything that imports mindspore, see there
from ms_hardtanh_grad.contract import ParamInvalidError, ParamNullptrError
from ms_hardtanh_grad.functional import hardtanh, hardtanh_grad
from ms_hardtanh_grad.hardtanh_cell import Hardtanh, convert

__version__ = version(__name__)
__all__ = ["Hardtanh", "ParamInvalidError", "ParamNullptrError", "convert", "hardtanh", "hardtanh_grad", "vendor"]
