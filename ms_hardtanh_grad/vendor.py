"""Finds the vendor package that holds the operator for Ascend, where MindSpore and CANN look for it.

Importing this module makes the bundled package visible, which has to happen before MindSpore's first device operation:
it and CANN read ASCEND_CUSTOM_OPP_PATH once.
"""

import ctypes
import os
import sys
import warnings
from pathlib import Path

from ms_hardtanh_grad import contract

CUSTOM_PATHS = "ASCEND_CUSTOM_OPP_PATH"
BUNDLED = Path(__file__).parent / "vendors" / contract.VENDOR_NAME
LIBRARY = Path("op_api") / "lib" / "libcust_opapi.so"
CANN_LIBRARIES = ("libopapi_nn.so", "libopapi.so")
HOW_TO_BUILD = (
    "on a machine with CANN, `pip install .` bundles the vendor package, and `bash custom_op/build.sh --install-path "
    f"DIR` installs it in DIR/vendors/{contract.VENDOR_NAME}, which {CUSTOM_PATHS} has to name before Python starts"
)


def _custom_paths():
    return [Path(entry) for entry in os.environ.get(CUSTOM_PATHS, "").split(":") if entry]


def _add_bundled_package():
    """Put the bundled package behind what ASCEND_CUSTOM_OPP_PATH names already."""
    if not (BUNDLED / LIBRARY).exists() or BUNDLED in _custom_paths():
        return
    os.environ[CUSTOM_PATHS] = ":".join(map(str, [*_custom_paths(), BUNDLED]))
    mindspore = sys.modules.get("mindspore")
    if mindspore and mindspore.hal.is_initialized("Ascend"):
        warnings.warn(
            f"ms_hardtanh_grad was imported after MindSpore had read {CUSTOM_PATHS}, so {BUNDLED / LIBRARY} is not in "
            "use: import it before the first operator runs on Ascend, or name its vendor directory there before "
            "Python starts",
            stacklevel=2,
        )


def search_path():
    """The vendor directories that are asked for the operator, first one first."""
    entries = _custom_paths()
    if "ASCEND_OPP_PATH" in os.environ:
        vendors = Path(os.environ["ASCEND_OPP_PATH"]) / "vendors"
        config = vendors / "config.ini"
        for line in config.read_text().splitlines() if config.exists() else []:
            key, _, names = line.partition("=")
            if key.strip() == "load_priority":
                entries += [vendors / name.strip() for name in names.split(",") if name.strip()]
    return entries


def _why_not(library):
    """Why a shared library cannot serve the operator, or None if it can."""
    if Path(library).is_absolute() and not Path(library).exists():
        return "no such file"
    try:
        return None if hasattr(ctypes.CDLL(str(library)), contract.ACLNN_NAME) else f"has no {contract.ACLNN_NAME}"
    except OSError as error:
        return str(error)


def find():
    """The library that serves HardtanhGrad on Ascend.

    Returns:
        tuple, the library's path, or None where no vendor package serves; and what was asked in vain before it, as a
        list of (path, reason).
    """
    passed = []
    for entry in search_path():
        library = entry / LIBRARY
        reason = _why_not(library)
        if reason is None:
            return library, passed
        passed.append((library, reason))
    return None, passed


def require():
    """Make sure that it is known which library serves HardtanhGrad on Ascend.

    MindSpore passes over a vendor package that is missing or does not load without a word, and takes CANN's own
    operator instead.

    Warns:
        UserWarning: no vendor package serves, and CANN's own operator does.

    Raises:
        RuntimeError: neither has the operator.
    """
    library, passed = find()
    if library:
        return
    asked = "; ".join(f"{path}: {reason}" for path, reason in passed) or f"{CUSTOM_PATHS} names no vendor package"
    message = f"no vendor package serves {contract.ACLNN_NAME} ({asked}): {HOW_TO_BUILD}"
    if all(map(_why_not, CANN_LIBRARIES)):
        raise RuntimeError(message)
    warnings.warn(f"CANN's own operator is used, since {message}", stacklevel=2)


_add_bundled_package()
