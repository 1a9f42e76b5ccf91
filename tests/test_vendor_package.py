"""The vendor package's sources and its build: what a machine without CANN can hold them to."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from mindspore.ops.operations._custom_ops_utils import CustomInfoGenerator

from ms_hardtanh_grad import contract

REPOSITORY = Path(__file__).resolve().parents[1]
CUSTOM_OP = REPOSITORY / "custom_op"
DEFINITION = CUSTOM_OP / "op_host" / "hardtanh_grad_def.cpp"


def build(*arguments, script=CUSTOM_OP / "build.sh", **environment):
    """Run build.sh in an environment without CANN but for what is given."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("ASCEND_")}
    return subprocess.run(
        ["bash", str(script), *arguments], env=inherited | environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("environment", [{}, {"ASCEND_HOME_PATH": "/nonexistent"}], ids=["unset", "wrong"])
def test_without_cann_one_sentence_says_what_is_missing(environment):
    """And how to set it."""
    run = build(**environment)
    assert run.returncode == 1
    assert re.fullmatch(r"build\.sh: no CANN toolkit .* ASCEND_HOME_PATH.*set_env\.sh.*\.\n", run.stderr)
    assert run.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--verbose"], "unknown argument --verbose"),
        (["--soc"], "--soc needs a value"),
        (["--soc", "ascend310"], "ascend310 is not ascend910b or ascend910_93"),
        (["--vendor-name", "My Vendor"], "My Vendor is not a lower-case identifier"),
        (["--install-path"], "--install-path needs a value"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    """With code 2, before anything is looked for."""
    run = build(*arguments)
    assert run.returncode == 2
    assert message in run.stderr


@pytest.fixture
def toolkit(tmp_path):
    """A copy of the sources, and a CANN of which only the place of its CMake functions and a recording cmake exist."""
    shutil.copytree(CUSTOM_OP, tmp_path / "custom_op")
    (tmp_path / "cann" / "compiler" / "tikcpp" / "ascendc_kernel_cmake").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    cmake = tmp_path / "bin" / "cmake"
    cmake.write_text(
        f"""#!/bin/bash
echo "cmake $*" >>{tmp_path}/calls
if [[ "$*" == *package* ]]; then
    echo 'echo "install $*" >>{tmp_path}/calls' >build_out/custom_opp.run
else
    mkdir -p build_out
fi
"""
    )
    cmake.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "soc", "vendor"),
    [
        ([], "ascend910b", "ms_hardtanh_grad"),
        (["--soc", "ascend910b;ascend910_93", "--vendor-name", "other"], "ascend910b;ascend910_93", "other"),
    ],
)
def test_build_configures_builds_and_installs(toolkit, arguments, soc, vendor):
    """In this order: the kernels before the package that picks them up."""
    run = build(
        *arguments,
        "--install-path",
        str(toolkit / "opp"),
        script=toolkit / "custom_op" / "build.sh",
        ASCEND_HOME_PATH=str(toolkit / "cann"),
        PATH=f"{toolkit}/bin:{os.environ['PATH']}",
    )
    assert run.returncode == 0, run.stderr
    configure, binary, package, install = (toolkit / "calls").read_text().splitlines()
    assert configure == f"cmake -S . --preset default -DASCEND_COMPUTE_UNIT={soc} -Dvendor_name={vendor}"
    assert binary.startswith("cmake --build build_out --target binary ")
    assert package.startswith("cmake --build build_out --target package ")
    assert install == f"install -- --quiet --install-for-all --install-path={toolkit}/opp"
    assert f"export ASCEND_CUSTOM_OPP_PATH={toolkit}/opp/vendors/{vendor}" in run.stdout


def test_mindspore_reads_the_header(tmp_path, monkeypatch):
    """With the parser that ops.Custom uses."""
    include = tmp_path / "op_api" / "include"
    include.mkdir(parents=True)
    shutil.copy(CUSTOM_OP / "op_api" / "aclnn_hardtanh_backward.h", include)
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", str(tmp_path))
    monkeypatch.setenv("ASCEND_OPP_PATH", str(tmp_path / "opp"))
    assert CustomInfoGenerator(contract.ACLNN_NAME).get_aclnn_api_types() == [
        "aclTensor*",
        "aclTensor*",
        "aclScalar*",
        "aclScalar*",
        "aclTensor*",
        "uint64_t*",
        "aclOpExecutor**",
    ]


def test_python_contract_is_that_of_the_definition():
    """Names, data types and defaults of op_host/hardtanh_grad_def.cpp."""
    source = DEFINITION.read_text()
    dtype_names = {"DT_FLOAT": "float32", "DT_FLOAT16": "float16", "DT_BF16": "bfloat16"}
    dtypes = re.search(r"dtypes = \{(.*?)\}", source).group(1)
    assert {dtype_names[name.strip().removeprefix("ge::")] for name in dtypes.split(",")} == set(contract.DTYPES)
    assert re.findall(r'Input\("(\w+)"\)', source) == ["result", "grad"]
    assert re.findall(r'Output\("(\w+)"\)', source) == [contract.OUTPUT_NAME]
    attributes = re.findall(r'Attr\("(\w+)"\)\.AttrType\(REQUIRED\)\.Float\((\S+)f\)', source)
    defaults = (contract.DEFAULT_MIN, contract.DEFAULT_MAX)
    assert [(name, float(value)) for name, value in attributes] == list(zip(contract.ATTR_NAMES, defaults))
    assert re.findall(r"OP_ADD\((\w+)\)", source) == [contract.OP_TYPE]


def test_python_contract_is_that_of_the_c_api():
    """Data types and the most dimensions that op_api accepts, and the names of its functions."""
    source = (CUSTOM_OP / "op_api" / "aclnn_hardtanh_backward.cpp").read_text()
    assert re.findall(r"MAX_DIM = (\d+)", source) == [str(contract.MAX_DIMS)]
    dtypes = re.search(r"DTYPES = \{(.*?)\}", source, re.DOTALL).group(1)
    assert len(dtypes.split(",")) == len(contract.DTYPES)
    header = (CUSTOM_OP / "op_api" / "aclnn_hardtanh_backward.h").read_text()
    assert set(re.findall(r"\baclnnStatus (\w+)\(", header)) == {
        f"{contract.ACLNN_NAME}GetWorkspaceSize",
        contract.ACLNN_NAME,
    }


def test_vendor_name_is_one():
    """In the Python package, the build script and the presets."""
    presets = json.loads((CUSTOM_OP / "CMakePresets.json").read_text())
    (preset,) = presets["configurePresets"]
    assert preset["cacheVariables"]["vendor_name"] == contract.VENDOR_NAME
    assert f"vendor_name={contract.VENDOR_NAME}\n" in (CUSTOM_OP / "build.sh").read_text()
