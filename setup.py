"""Builds the CPU kernel, and with CANN the vendor package, into the package; metadata lives in pyproject.toml."""

import os
import platform
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

ROOT = Path(__file__).parent
MACHINES = ("x86_64", "aarch64")


class BuildKernel(build_ext):
    """Compiles custom_op/cpu with the C++ compiler to ms_hardtanh_grad/libhardtanh_cpu.so."""

    def run(self):
        """Compile, and bundle the operator for Ascend where CANN's environment is set."""
        if not sys.platform.startswith("linux") or platform.machine() not in MACHINES:
            raise SystemExit(
                f"ms_hardtanh_grad runs where MindSpore's custom operators do, on Linux {' or '.join(MACHINES)}, "
                f"not on {sys.platform} {platform.machine()}."
            )
        try:
            super().run()
        except (BaseError, CCompilerError, OSError) as error:
            raise SystemExit(
                f"ms_hardtanh_grad needs a C++17 compiler for its CPU kernel: install g++ 9 or newer, "
                f"or name one in CC and CXX ({error})."
            ) from error
        if "ASCEND_HOME_PATH" in os.environ:
            package = (ROOT if self.inplace else Path(self.build_lib).absolute()) / "ms_hardtanh_grad"
            if subprocess.run(["bash", ROOT / "custom_op/build.sh", "--install-path", package], check=False).returncode:
                raise SystemExit(
                    "ms_hardtanh_grad: the vendor package did not build; unset ASCEND_HOME_PATH to do without."
                )

    def get_ext_filename(self, ext_name):
        """Name a plain shared library: it is loaded by MindSpore, not imported by Python."""
        return str(Path(*ext_name.split("."))) + ".so"

    def get_export_symbols(self, ext):
        """Export what the source marks, no PyInit function."""
        return ext.export_symbols


class WheelForAnyPython(bdist_wheel):
    """The library does not use Python's ABI, so the wheel is tagged for the platform only."""

    def get_tag(self):
        """Return the tag with Python and ABI left open."""
        return "py3", "none", super().get_tag()[2]


setup(
    ext_modules=[
        Extension(
            "ms_hardtanh_grad.libhardtanh_cpu",
            sources=[str(path.relative_to(ROOT)) for path in sorted((ROOT / "custom_op/cpu").glob("*.cpp"))],
            depends=[str(path.relative_to(ROOT)) for path in sorted((ROOT / "custom_op/cpu").glob("*.h"))],
            language="c++",
            # The old ABI is what MindSpore passes std::string with.
            extra_compile_args=[
                "-std=c++17",
                "-O3",
                "-D_GLIBCXX_USE_CXX11_ABI=0",
                "-fvisibility=hidden",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-pthread",
            ],
            # The kernel's threads outlive a dlclose of the library.
            extra_link_args=["-pthread", "-Wl,-z,nodelete"],
        )
    ],
    cmdclass={"build_ext": BuildKernel, "bdist_wheel": WheelForAnyPython},
)
