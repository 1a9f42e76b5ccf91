"""Build the stand-in for CANN with the vendor package and the C++ programs, and say in which environment they run."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).resolve().parent
REPOSITORY = SOURCE.parents[1]


class BuildError(RuntimeError):
    """What is missing, or what the compiler said."""


def build(sanitize=False):
    """Build what has changed, and return the build directory.

    sanitize chooses a build of its own with the address and undefined-behaviour sanitizers. Raises BuildError.
    """
    for tool, name in (("cmake", "CMake 3.16 or newer"), ("g++", "g++ 9 or newer")):
        if shutil.which(tool) is None:
            raise BuildError(f"The virtual NPU is compiled where it is used: install {name} ({tool} is not in PATH).")
    directory = REPOSITORY / "build" / ("virtual_npu_sanitized" if sanitize else "virtual_npu")
    directory.mkdir(parents=True, exist_ok=True)
    with open(directory / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        configure = ["cmake", "-S", SOURCE, "-B", directory, f"-DSANITIZE={'ON' if sanitize else 'OFF'}"]
        if not (directory / "CMakeCache.txt").exists() and shutil.which("ninja"):
            configure += ["-G", "Ninja"]
        for command in (configure, ["cmake", "--build", directory, "--parallel", str(os.cpu_count())]):
            run = subprocess.run(command, check=False, capture_output=True, text=True)
            if run.returncode != 0:
                raise BuildError(f"The virtual NPU does not build:\n{run.stdout}{run.stderr}")
    return directory


def environment(directory):
    """Return the environment variables under which a process finds CANN and the vendor package in a build."""
    cann = Path(directory) / "cann"
    vendor = Path(directory) / "vendors" / "ms_hardtanh_grad"
    library_path = [str(cann / "lib64"), str(vendor / "op_api" / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
    return {
        "LD_LIBRARY_PATH": ":".join(filter(None, library_path)),
        "ASCEND_HOME_PATH": str(cann),
        "ASCEND_OPP_PATH": str(cann / "opp"),
        "ASCEND_CUSTOM_OPP_PATH": str(vendor),
        # MindSpore maps device memory itself otherwise.
        "MS_ALLOC_CONF": "enable_vmm:False",
    }
