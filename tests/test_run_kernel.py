"""The runner: right results and reports, exit codes for what is wrong, and wrong kernels that it has to reject."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import oracle
import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
VIRTUAL_NPU = REPOSITORY / "tests" / "virtual_npu"
sys.path.insert(0, str(VIRTUAL_NPU))
import toolkit


def run(folder, self_array, grad_output, *options, code=0, python=(str(VIRTUAL_NPU / "run_kernel.py"),)):
    """Run the command over two arrays; return the result (None when none was written), the report and stderr."""
    np.save(folder / "self.npy", self_array)
    np.save(folder / "grad.npy", grad_output)
    files = ["--self", "self.npy", "--grad", "grad.npy", "--out", "out.npy", "--report", "report.json"]
    process = subprocess.run(
        [sys.executable, *python, *files, *options], cwd=folder, capture_output=True, text=True, check=False
    )
    assert process.returncode == code, process.stderr
    out = np.load(folder / "out.npy") if (folder / "out.npy").exists() else None
    report = json.loads((folder / "report.json").read_text()) if (folder / "report.json").exists() else None
    return out, report, process.stderr


def test_worked_example(tmp_path):
    """The contract's example, and all that its report says."""
    example = oracle.WORKED_EXAMPLE
    self_array, grad_output = (np.array(example[name], np.float32) for name in ("self", "grad_output"))
    out, report, _ = run(tmp_path, self_array, grad_output, "--min", "1.2", "--max", "2.4")
    assert out.tolist() == example["out"]
    assert (report["dtype"], report["shape"], report["tiles"]) == ("float32", [4, 2], [[8, 1]])
    (launch,) = report["launches"]
    assert (launch["tilingKey"], launch["blockDim"], launch["violations"]) == (0, 1, [])
    assert (launch["copiesIn"]["bytes"], launch["copiesOut"]["bytes"]) == (64, 32)
    instructions = {name: counters["instructions"] for name, counters in launch["vector"].items()}
    assert instructions == {"CompareScalar": 2, "Or": 1, "Not": 1, "Select": 1}


@pytest.mark.parametrize(
    ("dtype", "shape", "options", "cores"),
    [
        ("float32", (), [], 1),
        ("float32", (3, 41, 1001), ["--soc", "ascend910b3"], 40),
        ("float16", (122881,), ["--soc", "ascend910b4", "--cores", "7"], 7),
        ("bfloat16", (7, 11, 5000), [], 48),
        ("bfloat16", (20000,), ["--cores", "1", "--ub-bytes", "100000"], 1),
    ],
)
def test_results_are_those_of_the_formula(tmp_path, dtype, shape, options, cores):
    """Bit for bit, on several SoCs, numbers of cores and sizes of UB."""
    grad_output, self_array = (a.reshape(shape) for a in oracle.random_inputs(int(np.prod(shape)), dtype))
    if dtype == "bfloat16":
        options = [*options, "--dtype", "bfloat16"]
    out, report, _ = run(tmp_path, self_array, grad_output, "--min", "-0.7", "--max", "1", *options)
    expected = oracle.hardtanh_grad(grad_output, self_array, -0.7, 1)
    assert out.dtype == expected.dtype
    assert out.tobytes() == expected.tobytes()
    (launch,) = report["launches"]
    assert (report["dtype"], launch["blockDim"], len(launch["cores"])) == (dtype, cores, cores)
    assert sum(size * count for size, count in report["tiles"]) == out.size
    assert sum(core["elements"] for core in launch["cores"]) == out.size


def test_empty_tensor_launches_nothing(tmp_path):
    """An empty result is written."""
    empty = np.empty((0, 3), np.float16)
    out, report, _ = run(tmp_path, empty, empty, "--min", "-1", "--max", "1")
    assert (out.shape, out.dtype, report["launches"]) == ((0, 3), np.float16, [])


@pytest.mark.parametrize(
    ("self_array", "grad_output"),
    [
        (np.zeros((2, 3), np.float32), np.zeros((3, 2), np.float32)),
        (np.zeros(6, np.float32), np.zeros(6, np.float16)),
        (np.zeros(6), np.zeros(6)),
        (np.zeros((1,) * 9, np.float32), np.zeros((1,) * 9, np.float32)),
    ],
    ids=["shapes", "dtypes", "float64", "9 dimensions"],
)
def test_refused_calls_give_the_code(tmp_path, self_array, grad_output):
    """What the C API refuses ends with code 2, its code on stderr and no files."""
    out, report, errors = run(tmp_path, self_array, grad_output, "--min", "-1", "--max", "1", code=2)
    assert "aclnnHardtanhBackwardGetWorkspaceSize returned 161002" in errors
    assert out is None
    assert report is None


def test_a_platform_without_room_is_refused(tmp_path):
    """The tiling's reason reaches stderr."""
    array = np.zeros(6, np.float32)
    _, _, errors = run(tmp_path, array, array, "--min", "-1", "--max", "1", "--ub-bytes", "9000", code=2)
    assert "its UB holds no tile" in errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--self", "missing.npy"], "missing.npy cannot be read"),
        (["--self", "text.npy"], "text.npy cannot be read"),
        (["--grad", "several.npz"], "several.npz holds several arrays"),
        (["--grad", "uint16.npy"], "say --dtype bfloat16"),
        (["--grad", "complex64.npy"], "holds complex64"),
        (["--dtype", "bfloat16"], "holds float32; bfloat16 values are expected as uint16"),
        (["--cores", "-1"], "--cores must not be negative"),
        (["--soc", "ascend310"], "invalid choice: 'ascend310'"),
        (["--min", "low"], "invalid float value: 'low'"),
    ],
)
def test_bad_files_and_arguments_are_named(tmp_path, options, message):
    """Nothing is run, and the message names the file or the argument."""
    (tmp_path / "text.npy").write_text("1 2 3")
    np.savez(tmp_path / "several.npz", a=np.zeros(1), b=np.zeros(1))
    for dtype in ("uint16", "complex64"):
        np.save(tmp_path / f"{dtype}.npy", np.zeros(6, dtype))
    array = np.zeros(6, np.float32)
    out, _, errors = run(tmp_path, array, array, "--min", "-1", "--max", "1", *options, code=3)
    assert message in errors
    assert out is None


# Mistakes in the operator's own kernel, by the rule that catches them: a text and its replacement.
WRONG_KERNELS = {
    # Copies rounded up to 32 bytes.
    "gm-tensor-bounds": (
        "length * static_cast<uint32_t>(sizeof(T)), 0",
        "(length * static_cast<uint32_t>(sizeof(T)) + 31) / 32 * 32, 0",
    ),
    # No barrier between Or and Not.
    "sync-raw": (
        "words);\n        AscendC::PipeBarrier<PIPE_V>();\n        AscendC::LocalTensor<uint16_t> inside",
        "words);\n        AscendC::LocalTensor<uint16_t> inside",
    ),
    "compare-granularity": ("AscendC::CMPMODE::GT, CompareCount(count)", "AscendC::CMPMODE::GT, count"),
    "queue-leak": ("        gradQueue_.FreeTensor(grad);\n", ""),
}


@pytest.fixture(scope="module")
def build():
    """The build directory of the virtual NPU."""
    return toolkit.build()


@pytest.mark.parametrize("rule", WRONG_KERNELS)
def test_wrong_kernels_end_with_code_1(tmp_path, build, rule):
    """Each mistake ends the launch, is in the report and on stderr, and no result is written."""
    text, replacement = WRONG_KERNELS[rule]
    kernel = tmp_path / "op_kernel"
    kernel.mkdir()
    for source in (REPOSITORY / "custom_op" / "op_kernel").glob("*.*"):
        content = source.read_text()
        if source.name == "hardtanh_grad.h":
            assert content.count(text) == 1
            content = content.replace(text, replacement)
        (kernel / source.name).write_text(content)
    # A build that differs from the tested one in this kernel alone.
    vendor = Path("vendors/ms_hardtanh_grad")
    kernels = vendor / "op_impl/ai_core/tbe/kernel/ascend910b/hardtanh_grad"
    (tmp_path / "cann").symlink_to(build / "cann")
    (tmp_path / kernels).mkdir(parents=True)
    for name in ("op_api", "op_proto", "op_impl/ai_core/tbe/op_tiling"):
        (tmp_path / vendor / name).symlink_to(build / vendor / name)
    defines = {"VNPU_KERNEL_FILE": f'"{kernel}/hardtanh_grad.cpp"', "VNPU_KERNEL": "hardtanh_grad"}
    defines |= {f"DTYPE_{name}": "float" for name in ("RESULT", "GRAD", "Y")}
    subprocess.run(
        [
            *("g++", "-std=c++17", "-shared", "-fPIC", "-D_GLIBCXX_USE_CXX11_ABI=0"),
            *(f"-D{name}={value}" for name, value in defines.items()),
            *(f"-I{VIRTUAL_NPU / name}" for name in ("include", "src")),
            *(str(VIRTUAL_NPU / "src" / "kernel_entry.cpp"), "-o", str(tmp_path / kernels / "HardtanhGrad_float32.so")),
        ],
        check=True,
    )
    command = (
        f"import os, sys; sys.path.insert(0, {os.fspath(VIRTUAL_NPU)!r}); import run_kernel, toolkit;"
        f" toolkit.build = lambda: {os.fspath(tmp_path)!r}; sys.exit(run_kernel.main())"
    )
    array = np.zeros(1001, np.float32)
    out, report, errors = run(tmp_path, array, array, "--min", "-1", "--max", "1", code=1, python=("-c", command))
    assert out is None
    (violation,) = report["launches"][0]["violations"]
    assert violation["rule"] == rule
    assert f"rule {rule}" in errors
