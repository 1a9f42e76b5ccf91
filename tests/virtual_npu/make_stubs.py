"""Write the stubs that MindSpore's Ascend backend needs to load where CANN's graph engine is absent.

The backend's libraries are bound at load time, so every symbol that they import must exist; others they look up
by name. What neither the wheel nor the stand-in defines is written here: C++ symbols, which belong to the graph
engine and are not called when operators run one by one, become functions that return 0 and zeroed vtables; C
functions fail and say their name.
"""

import re
import subprocess

BACKEND = "libmindspore_ascend.so.2"
# Loaded by name at run time instead of through NEEDED.
LOADED_LATER = ("libmindspore_graph_ir.so", "libhccl_plugin.so")
SYSTEM = ("libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libgomp.so.1")
LOOKED_UP = rb"(?<=\0)(?:acl(?:rt|tdt|prof|mdl|op)?|Hccl)[A-Z][A-Za-z0-9]+(?=\0)"


def run(*command):
    """Return what the command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def path_of_the_system(name):
    """Return the path at which the compiler finds the library, or its bare name."""
    return run("gcc", f"-print-file-name={name}").strip()


def is_of_the_system(name):
    """Whether the library comes with the compiler or the C library."""
    return path_of_the_system(name) != name


def defined(library):
    """Return the names of the symbols that the library defines."""
    found = re.findall(r"^[0-9a-f]+ \w (\S+)$", run("nm", "-D", "--defined-only", str(library)), re.MULTILINE)
    return {name.split("@")[0] for name in found}


def imported(library):
    """Return the names that the library imports and must find; only system libraries give theirs a version."""
    return set(re.findall(r"^ +U ([^\s@]+)$", run("nm", "-D", "--undefined-only", str(library)), re.MULTILINE))


def closure(root):
    """Return what the backend loads: the paths of libraries below root, and the names of CANN's."""
    files = {path.name: path for path in root.rglob("*.so*")}
    pending = [BACKEND, *LOADED_LATER]
    inside, outside = {}, set()
    while pending:
        name = pending.pop()
        if name in files and name not in inside:
            inside[name] = files[name]
            pending += re.findall(r"NEEDED.*\[(.+)\]", run("readelf", "-d", "-W", str(files[name])))
        elif name not in files and not is_of_the_system(name):
            outside.add(name)
    return list(inside.values()), outside


def missing(libraries, provided):
    """Return the names that the libraries import or look up, and that neither they nor those provided define."""
    names = set()
    for library in libraries:
        names |= imported(library)
        names |= {name.decode() for name in re.findall(LOOKED_UP, library.read_bytes())}
    for library in [*libraries, *provided, *map(path_of_the_system, SYSTEM)]:
        names -= defined(library)
    return sorted(name for name in names if not re.match("_?Py", name))


def stub(name):
    """Return the C source of one stub."""
    if name.startswith(("_ZTV", "_ZTI", "_ZTS")):
        return f"char {name}[4096];"
    if name.startswith("_Z"):
        return f"long {name}(void) {{ return 0; }}"
    return f'int {name}(void) {{ return vnpuNotSupported("{name}"); }}'


def source(libraries, provided):
    """Return C source with a stub for each missing name, see missing."""
    lines = ["int vnpuNotSupported(const char* name);", *map(stub, missing(libraries, provided))]
    return "\n".join(lines) + "\n"
