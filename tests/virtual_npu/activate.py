"""Run a command where MindSpore's device_target="Ascend" works on the virtual NPU.

    python tests/virtual_npu/activate.py -- python train.py

Builds what is missing. The stubs are those of the MindSpore that the running Python has, and the command finds that
Python first. An ASCEND_CUSTOM_OPP_PATH that is set, even to nothing, is kept; else it names the vendor package.
"""

import argparse
import fcntl
import importlib.util
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import make_stubs
import toolkit

CANN_VERSION = "8.5.0"
# Loaded by name at run time instead of through NEEDED.
LOADED_LATER = {"libacl_op_compiler.so", "libacl_tdt_channel.so", "libascendcl.so", "libnnopbase.so", "libruntime.so"}


def build_home(directory):
    """Return CANN's home for the installed MindSpore, below the build directory, with its stubs compiled."""
    spec = importlib.util.find_spec("mindspore")
    if spec is None:
        raise toolkit.BuildError(f"MindSpore is not installed for {sys.executable}.")
    mindspore = Path(spec.origin).parent
    home = directory / f"mindspore-{version('mindspore')}" / "cann"
    real = directory / "cann" / "lib64" / "libvirtual_npu.so"
    stubs = home / "lib64" / "libvirtual_npu_mindspore.so"
    inputs = (real, Path(make_stubs.__file__), Path(__file__))
    if stubs.exists() and all(stubs.stat().st_mtime > path.stat().st_mtime for path in inputs):
        return home
    for name in ("lib64", "compiler"):
        (home / name).mkdir(parents=True, exist_ok=True)
    (home / "compiler" / "version.info").write_text(f"Version={CANN_VERSION}\n")
    libraries, outside = make_stubs.closure(mindspore / "lib")
    source = home.parent / "stubs.c"
    source.write_text(make_stubs.source(libraries, [real]))
    links = {"include": directory / "cann" / "include", "opp": directory / "cann" / "opp"}
    links |= {f"lib64/{name}": real for name in (real.name, "libopapi.so")}
    links |= {f"lib64/{name}": Path(stubs.name) for name in outside | LOADED_LATER}
    for name, target in links.items():
        (home / name).unlink(missing_ok=True)
        (home / name).symlink_to(target)
    command = ["gcc", "-shared", "-fPIC", "-w", "-o", stubs, source, f"-L{real.parent}", "-lvirtual_npu"]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    if run.returncode != 0:
        raise toolkit.BuildError(f"The stubs do not compile:\n{run.stderr}")
    return home


def environment():
    """Return the environment variables of the command, after building what is missing."""
    directory = toolkit.build()
    with open(directory / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        home = build_home(directory)
    variables = toolkit.environment(directory)
    return variables | {
        "LD_LIBRARY_PATH": f"{home / 'lib64'}:{variables['LD_LIBRARY_PATH']}",
        "ASCEND_HOME_PATH": str(home),
        "ASCEND_OPP_PATH": str(home / "opp"),
        "ASCEND_CUSTOM_OPP_PATH": os.environ.get("ASCEND_CUSTOM_OPP_PATH", variables["ASCEND_CUSTOM_OPP_PATH"]),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        # MindSpore looks only whether the path is there.
        "PYTHONPATH": f"{home / 'opp/built-in/op_impl/ai_core/tbe'}:{os.environ.get('PYTHONPATH', '')}",
    }


def main():
    """Replace this process by the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs=argparse.REMAINDER, help="-- and the command with its arguments")
    command = parser.parse_args().command
    command = command[1:] if command[:1] == ["--"] else command
    if not command:
        parser.error("no command")
    try:
        variables = os.environ | environment()
    except toolkit.BuildError as error:
        sys.exit(str(error))
    try:
        os.execvpe(command[0], command, variables)
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}")


if __name__ == "__main__":
    main()
