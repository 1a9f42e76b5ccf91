"""The operator's C++ tests, over the virtual NPU: plain, under sanitizers, and the two-phase example as a user has it."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
CPP = REPOSITORY / "tests" / "cpp"
VIRTUAL_NPU = REPOSITORY / "tests" / "virtual_npu"
sys.path.insert(0, str(VIRTUAL_NPU))
import toolkit

SUITES = ("tiling_test", "kernel_test", "op_host_test", "op_api_test", "launcher_test", "runtime_test")
TESTS = [
    (suite, test)
    for suite in SUITES
    for test in re.findall(r"^TEST\((\w+)\)", (CPP / f"{suite}.cpp").read_text(), re.MULTILINE)
]
KERNELS = "op_impl/ai_core/tbe/kernel/ascend910b/hardtanh_grad"


@pytest.fixture(scope="session")
def build():
    """The build directory."""
    return toolkit.build()


@pytest.fixture(scope="session")
def sanitized():
    """The directory of the build with sanitizers."""
    return toolkit.build(sanitize=True)


def run(directory, program, *arguments, **environment):
    """Run a program of a build; None takes a variable out of its environment."""
    variables = os.environ | toolkit.environment(directory) | environment
    return subprocess.run(
        [directory / "bin" / program, *arguments],
        env={name: str(value) for name, value in variables.items() if value is not None},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("suite", "test"), TESTS, ids=["-".join(test) for test in TESTS])
def test_cpp(build, suite, test):
    """Each C++ test, in a process of its own that leaves nothing alive."""
    result = run(build, suite, test)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == f"ok {test}"
    assert "left alive at exit" not in result.stderr


def test_cpp_tests_are_those_of_the_programs(build):
    """The names read from the sources are the programs' own."""
    for suite in SUITES:
        assert run(build, suite, "--list").stdout.split() == [test for name, test in TESTS if name == suite]


def test_unknown_cpp_test_fails(build):
    """A test that does not exist does not pass."""
    assert run(build, "op_api_test", "no_such_test").returncode == 1


@pytest.mark.parametrize("program", (*SUITES, "instructions_test", "faults", "aclnn_hardtanh_backward"))
def test_sanitizers(sanitized, tmp_path, program):
    """All C++ tests are clean under the address, leak and undefined-behaviour sanitizers."""
    # A child that a test forks has the memory of its parent's other threads, and not the threads.
    (tmp_path / "suppressions").write_text("leak:__cxa_thread_atexit_impl\n")
    leaks = f"suppressions={tmp_path}/suppressions:print_suppressions=0"
    result = run(sanitized, program, UBSAN_OPTIONS="print_stacktrace=1", LSAN_OPTIONS=leaks)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Sanitizer" not in result.stderr
    assert "runtime error" not in result.stderr


@pytest.mark.parametrize(
    ("mistake", "seen"),
    [("none", None), ("use", "heap-use-after-free"), ("leak", "LeakSanitizer"), ("undefined", "runtime error")],
)
def test_sanitizers_see_mistakes(sanitized, mistake, seen):
    """They are on: a program that makes a mistake fails."""
    result = run(sanitized, "mistakes", mistake)
    assert (result.returncode == 0) == (seen is None)
    assert seen is None or seen in result.stderr


def test_example(build):
    """It prints the eight results, and frees what it made."""
    result = run(build, "aclnn_hardtanh_backward")
    assert result.stdout.split() == ["0", "0", "0", "3", "0", "5", "0", "0"]
    assert result.returncode == 0
    assert result.stderr == ""


def test_example_compiles_as_it_says(build, tmp_path):
    """The commands in its comment work, with the environment that CANN gives."""
    source = REPOSITORY / "examples" / "aclnn_hardtanh_backward.cpp"
    lines = re.findall(r"^ \*   (.*)$", source.read_text().split("*/")[0], re.MULTILINE)
    result = subprocess.run(
        ["bash", "-ec", "\n".join(lines)],
        cwd=Path(shutil.copy(source, tmp_path)).parent,
        env=os.environ | toolkit.environment(build),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout.split() == ["0", "0", "0", "3", "0", "5", "0", "0"], result.stderr


def test_exports(build):
    """The vendor's library has the two functions of the C API, and no others."""
    library = build / "vendors" / "ms_hardtanh_grad" / "op_api" / "lib" / "libcust_opapi.so"
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r" T (\w+)$", symbols, re.MULTILINE)) == {
        "aclnnHardtanhBackward",
        "aclnnHardtanhBackwardGetWorkspaceSize",
    }


OP_API = """
#include "opdev/make_op_executor.h"
#include "opdev/op_dfx.h"
aclnnStatus aclnnThisGetWorkspaceSize(const aclTensor* x, aclTensor* y, uint64_t* workspaceSize,
                                      aclOpExecutor** executor) {
    L2_DFX_PHASE_1(aclnnThis, DFX_IN(x), DFX_OUT(y));
    return ACLNN_SUCCESS;
}
aclnnStatus aclnnThis(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
    L2_DFX_PHASE_2(aclnnThis);
    return CommonOpExecutorRun(workspace, workspaceSize, executor, stream);
}
const aclTensor* This(const aclTensor* x, aclOpExecutor* executor) {
    L0_DFX(This, x);
    return x;
}
"""


@pytest.mark.parametrize("macro", [None, "L2_DFX_PHASE_1(aclnnThis", "L2_DFX_PHASE_2(aclnnThis", "L0_DFX(This"])
def test_names_are_checked_when_compiling(macro):
    """As in CANN, a function that names another one in its first line does not compile."""
    include = VIRTUAL_NPU / "include"
    command = ["g++", "-std=c++17", "-fsyntax-only", f"-I{include}", f"-I{include}/aclnn", "-x", "c++", "-"]
    code = OP_API if macro is None else OP_API.replace(macro, f"{macro}Other")
    result = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
    assert (result.stderr == "") == (macro is None)
    assert macro is None or "static assertion failed: Invalid" in result.stderr


@pytest.fixture
def package(build, tmp_path):
    """A copy of the vendor package that a test may break, in CANN's own vendors."""
    target = tmp_path / "opp" / "vendors" / "ms_hardtanh_grad"
    shutil.copytree(build / "vendors" / "ms_hardtanh_grad", target, symlinks=True)
    (target.parent / "config.ini").write_text("load_priority=another,ms_hardtanh_grad\n")
    return target


def run_example(build, custom_path, opp):
    """Return the exit code of the example and its error text under these two environment variables."""
    result = run(build, "aclnn_hardtanh_backward", ASCEND_CUSTOM_OPP_PATH=custom_path, ASCEND_OPP_PATH=opp)
    return result.returncode, result.stderr


def test_package_in_vendors(build, package, tmp_path):
    """The packages of config.ini are found, others are not, and absolute paths in the environment go before them."""
    opp = package.parents[1]
    assert run_example(build, None, opp) == (0, "")
    (package / KERNELS / "HardtanhGrad_float32.so").write_text("no library")
    code, text = run_example(build, None, opp)
    assert (code, "507035" in text) == (1, True)
    good = build / "vendors" / "ms_hardtanh_grad"
    assert run_example(build, good, opp) == (0, "")
    assert run_example(build, f"/nowhere:{good}:{package}", opp) == (0, "")
    assert run_example(build, f"{package}:{good}", opp)[0] == 1
    (package.parent / "config.ini").unlink()
    code, text = run_example(build, os.path.relpath(good), opp)
    assert (code, "561112" in text) == (1, True)


@pytest.mark.parametrize(
    ("missing", "code"),
    [
        (".", "561112"),
        (KERNELS, "561112"),
        (f"{KERNELS}/HardtanhGrad_float32.so", "561003"),
        ("op_impl/ai_core/tbe/op_tiling", "561002"),
    ],
)
def test_package_with_a_part_missing(build, package, missing, code):
    """Phase 1 fails with 561103, as the operator says, and the text names what is missing."""
    part = package / missing
    shutil.rmtree(part) if part.is_dir() else part.unlink()
    exit_code, text = run_example(build, package, None)
    assert exit_code == 1
    assert "GetWorkspaceSize returned 561103" in text
    assert f"errno[{code}]" in text


@pytest.mark.parametrize(("tool", "name"), [("cmake", "CMake"), ("g++", "g++")])
def test_missing_tool(monkeypatch, tmp_path, tool, name):
    """One sentence says what to install."""
    for other in {"cmake", "g++"} - {tool}:
        (tmp_path / other).symlink_to(shutil.which(other))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        toolkit.BuildError, match=f"^The virtual NPU .* install {re.escape(name)} [^.]*\\.16|9 or newer"
    ):
        toolkit.build()


def test_builds_take_turns(build):
    """A build waits while another one holds the directory."""
    with open(build / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [sys.executable, "-c", "import toolkit; print(toolkit.build())"]
        with subprocess.Popen(command, cwd=VIRTUAL_NPU, stdout=subprocess.PIPE, text=True) as process:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(timeout=2)
            fcntl.flock(lock, fcntl.LOCK_UN)
            assert process.communicate()[0].strip() == str(build)


def test_environment(build):
    """It names what CANN's set_env.sh names, and MindSpore finds the headers beside the operator packages."""
    environment = toolkit.environment(build)
    assert (Path(environment["ASCEND_OPP_PATH"]).parent / "include/acl/acl_base.h").exists()
    assert (Path(environment["ASCEND_CUSTOM_OPP_PATH"]) / "op_api/include/aclnn_hardtanh_backward.h").exists()
    assert environment["LD_LIBRARY_PATH"].startswith(f"{environment['ASCEND_HOME_PATH']}/lib64:")
