"""What setup.py makes: wheel, sdist, editable install, and its words when it cannot."""

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import ms_hardtanh_grad

REPOSITORY = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Python with nothing but what builds packages."""
    directory = tmp_path_factory.mktemp("venv")
    venv.create(directory, with_pip=True)
    subprocess.run([directory / "bin/pip", "install", "--quiet", "setuptools>=77"], check=True)
    return directory / "bin" / "python"


@pytest.fixture
def source(tmp_path):
    """A copy of the files that a checkout has."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in listed.stdout.split("\n"):
        if (REPOSITORY / name).is_file():
            (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, tmp_path / "source" / name)
    return tmp_path / "source"


def run(*command, cwd=None, **environment):
    """Run a command without CANN's environment, output as text."""
    variables = {key: value for key, value in os.environ.items() if key != "ASCEND_HOME_PATH"} | environment
    return subprocess.run([*map(str, command)], cwd=cwd, env=variables, capture_output=True, text=True, check=False)


def pip_wheel(python, source, target, **environment):
    """The wheel of a source tree or archive."""
    done = run(python, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", target, source, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = target.glob("*.whl")
    return wheel


def worked_example(path):
    """Run the doctor of the package that lies in `path`."""
    done = run(sys.executable, "-m", "ms_hardtanh_grad", cwd=path)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_wheel(python, source, tmp_path):
    """The wheel is for any Python of the platform, carries the library, and works where it is unpacked."""
    wheel = pip_wheel(python, source, tmp_path / "dist")
    assert wheel.name.startswith(f"ms_hardtanh_grad-{ms_hardtanh_grad.__version__}-py3-none-linux_")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "unpacked")
    package = tmp_path / "unpacked" / "ms_hardtanh_grad"
    assert (package / "py.typed").exists()
    assert str(package / "libhardtanh_cpu.so") in worked_example(tmp_path / "unpacked")
    (metadata,) = (tmp_path / "unpacked").glob("*.dist-info/METADATA")
    assert {line.split(": ")[1] for line in metadata.read_text().splitlines() if line.startswith("Requires-Dist")} == {
        "mindspore<2.11,>=2.8",
        "numpy<2,>=1.25",
        'pytest; extra == "test"',
        'matplotlib; extra == "examples"',
    }


def test_sdist(python, source, tmp_path):
    """A wheel builds from the sdist alone."""
    code = "from setuptools import build_meta; print(build_meta.build_sdist('dist'))"
    subprocess.run([python, "-c", code], cwd=source, check=True, capture_output=True)
    (archive,) = (source / "dist").glob("*.tar.gz")
    assert pip_wheel(python, archive, tmp_path / "dist").name.startswith("ms_hardtanh_grad-")


def test_editable(python, source):
    """An editable install compiles the library beside the sources."""
    done = run(python, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "-e", source)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (source / "ms_hardtanh_grad" / "libhardtanh_cpu.so").exists()


def test_vendor_package_is_bundled(python, source, tmp_path):
    """Where CANN's environment is set, what build.sh installs is in the wheel under its own name."""
    (source / "custom_op" / "build.sh").write_text(
        "mkdir -p $2/vendors/ms_hardtanh_grad/op_api/lib && touch $2/vendors/ms_hardtanh_grad/op_api/lib/libcust_opapi.so"
    )
    wheel = pip_wheel(python, source, tmp_path / "dist", ASCEND_HOME_PATH="anywhere")
    vendored = "ms_hardtanh_grad/vendors/ms_hardtanh_grad/op_api/lib/libcust_opapi.so"
    assert vendored in zipfile.ZipFile(wheel).namelist()


@pytest.mark.parametrize(
    "variables, code, sentence",
    [
        ({"CC": "no-such-compiler", "CXX": "no-such-compiler"}, "", "needs a C++17 compiler for its CPU kernel"),
        ({"ASCEND_HOME_PATH": "/nowhere"}, "", "no CANN toolkit"),
        ({}, "import platform; platform.machine = lambda: 'riscv64'; ", "on Linux x86_64 or aarch64, not on"),
    ],
    ids=["no compiler", "broken CANN", "unsupported machine"],
)
def test_says_what_is_missing(python, source, variables, code, sentence):
    """A build that cannot succeed ends with one sentence, not with a traceback."""
    code += "import runpy, sys; sys.argv = ['setup.py', 'build']; runpy.run_path('setup.py')"
    done = subprocess.run(
        [python, "-c", code], cwd=source, env=os.environ | variables, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
