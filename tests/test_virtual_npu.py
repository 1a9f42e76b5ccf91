"""The virtual vector cores: each rule rejects what breaks it, and the page about them says what they do."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

VIRTUAL_NPU = Path(__file__).resolve().parent / "virtual_npu"
sys.path.insert(0, str(VIRTUAL_NPU))
import predict
import toolkit

README = (VIRTUAL_NPU / "README.md").read_text()
RULES = re.findall(r"^\| `([a-z-]+)` \|", README.split("## Rules")[1].split("## ")[0], re.MULTILINE)

# Element types that CANN does not compile, and the instruction with one that it does.
UNCOMPILABLE = {
    "Compares": ("AscendC::Compares(mask, halves, half(0), AscendC::CMPMODE::GT, 128);", "halves", "brains"),
    "Compares with another scalar": ("AscendC::Compares(mask, floats, 0.0f, AscendC::CMPMODE::GT, 64);", "0.0f", "0"),
    "Compare": ("AscendC::Compare(mask, floats, floats, AscendC::CMPMODE::GT, 64);", "floats", "words"),
    "Select": ("AscendC::Select(floats, mask, floats, floats, MODE, 64);", "floats", "brains"),
    "Select with another scalar": ("AscendC::Select(halves, mask, halves, half(0), SCALAR, 64);", "half(0)", "0.0f"),
    "Cast": ("AscendC::Cast(floats, halves, AscendC::RoundMode::CAST_NONE, 64);", "floats", "brains"),
    "Not": ("AscendC::Not(words, words, 16);", "words", "mask"),
    "Duplicate": ("AscendC::Duplicate(words, uint16_t(0), 16);", "words, uint16_t", "mask, uint8_t"),
    "Maxs": ("AscendC::Maxs(floats, floats, 0.0f, 16);", "floats, floats, 0.0f", "brains, brains, bfloat16_t(0.0f)"),
    "GM to UB of another type": ("AscendC::DataCopy(floats, global, 64);", "floats", "halves"),
    "a queue in VECCALC": ("AscendC::TQue<AscendC::TPosition::VECIN, 1> queue;", "VECIN", "VECCALC"),
    "a barrier of the scalar pipe": ("AscendC::PipeBarrier<PIPE_V>();", "PIPE_V", "PIPE_S"),
}
SOURCE = """
#include "kernel_operator.h"
constexpr auto MODE = AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE;
constexpr auto SCALAR = AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE;
void Use(AscendC::LocalTensor<float> floats, AscendC::LocalTensor<half> halves, AscendC::LocalTensor<bfloat16_t> brains,
         AscendC::LocalTensor<uint16_t> words, AscendC::LocalTensor<uint8_t> mask, AscendC::GlobalTensor<float> global) {
    %s
}
"""


@pytest.fixture(scope="module")
def build():
    """Build everything and return the directory."""
    return toolkit.build()


def run(build, program, *arguments):
    """Run one of the C++ programs."""
    return subprocess.run(
        [Path(build) / "bin" / program, *arguments],
        env=os.environ | toolkit.environment(build),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("rule", RULES)
def test_rule(build, rule):
    """What breaks the rule is rejected under its id, and the correct twin passes."""
    test = rule.replace("-", "_")
    result = run(build, "faults", test)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [f"ok {test}"]


def test_every_rule_is_documented_and_broken(build):
    """The page's rules are the engine's, and each has something that breaks it."""
    result = run(build, "faults", "every_rule_is_broken")
    assert result.returncode == 0, result.stderr
    tests = set(run(build, "faults", "--list").stdout.split()) - {"every_rule_is_broken"}
    assert tests == {rule.replace("-", "_") for rule in RULES}
    assert len(RULES) == len(set(RULES))


def test_instructions(build):
    """What the instructions compute, and what is counted and reported."""
    result = run(build, "instructions_test")
    assert result.returncode == 0, result.stderr


def compiles(code):
    """Compile `code` inside a function; return what the compiler says, empty when it accepts it."""
    command = ["g++", "-std=c++17", "-fsyntax-only", f"-I{VIRTUAL_NPU / 'include'}", "-x", "c++", "-"]
    return subprocess.run(command, input=SOURCE % code, capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize("name", UNCOMPILABLE)
def test_types_that_do_not_compile(name):
    """An element type that the vector core does not have is refused by the compiler; one that it has is not."""
    code, right, wrong = UNCOMPILABLE[name]
    assert compiles(code) == ""
    assert "error" in compiles(code.replace(right, wrong))


def test_prediction():
    """The page's table is what predict.py prints, and at 8 M elements the copies decide."""
    predictions = [predict.predict(launch) for launch in predict.count()]
    documented = README.split("<!-- prediction -->\n")[1].split("\n<!-- end of prediction -->")[0]
    assert predict.table(predictions) == documented
    large = [p for p in predictions if p.elements == 8 * 2**20]
    assert {p.dtype for p in large} == {"float32", "float16", "bfloat16"}
    for prediction in large:
        assert prediction.copy >= 0.9 * prediction.total
        assert prediction.vector < 0.2 * prediction.copy
        assert prediction.cores == 48
        assert prediction.copies[0] >= 16 * 1024


def test_prediction_sees_its_bounds():
    """A record with more vector work, or with smaller tensors, is bound by that."""
    core = {"elements": 2**20, "bytesRead": 2**21, "bytesWritten": 2**20, "repeats": 1000, "tiles": 2}
    launch = {
        "kernel": "HardtanhGrad_float16.so",
        "blockDim": 2,
        "copiesIn": {"bytes": 2**22, "sizes": [[2**15, 128]]},
        "copiesOut": {"bytes": 2**21, "sizes": [[2**15, 64]]},
        "cores": [core, core],
    }
    assert predict.predict(launch).bound == "copy"
    # One core reads 32 bytes per cycle, less than its share of the memory's bandwidth.
    assert predict.predict(launch).copy == 2**21 / 32 / predict.CLOCK
    launch["cores"] = [core, core | {"repeats": 1000000}]
    assert predict.predict(launch).bound == "vector"
    launch["cores"] = [core | {"bytesRead": 2048, "bytesWritten": 1024}] * 2
    assert predict.predict(launch).bound == "launch"
