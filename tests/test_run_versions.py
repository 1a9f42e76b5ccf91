"""run_versions.py: what it counts, prints and returns, with nothing installed."""

import json
import subprocess
import sys

import pytest
import run_versions

PASSED = {"passed": 9, "failed": 0, "skipped": 0, "failures": []}
SKIPPED = {"passed": 7, "failed": 0, "skipped": 2, "failures": []}
FAILED = {"passed": 8, "failed": 1, "skipped": 0, "failures": ["test_api::test_mode[O0]"]}
NOT_RUN = {"reason": "exit code 1: no stub | for it"}


def run_main(monkeypatch, results, *arguments):
    """The exit code, with results in place of runs."""
    monkeypatch.setattr(run_versions, "claimed_versions", lambda: list(results))
    monkeypatch.setattr(run_versions, "run_version", results.__getitem__)
    return run_versions.main(list(arguments))


def test_table(monkeypatch, capsys, tmp_path):
    """Each version has a row, with the reason where tests did not run, and failed tests are named."""
    results = {
        "2.8.0": {"CPU": PASSED, "Ascend": NOT_RUN},
        "2.9.0": {"CPU": SKIPPED, "Ascend": FAILED},
    }
    assert run_main(monkeypatch, results, "--json", str(tmp_path / "results.json")) == 0
    assert capsys.readouterr().out == (
        "| MindSpore | CPU | Ascend |\n"
        "|---|---|---|\n"
        "| 2.8.0 | 9 passed, 0 failed | not run: exit code 1: no stub \\| for it |\n"
        "| 2.9.0 | 7 passed, 0 failed, 2 skipped | 8 passed, 1 failed |\n"
        "\n"
        "- 2.9.0, Ascend: test_api::test_mode[O0]\n"
    )
    assert json.loads((tmp_path / "results.json").read_text()) == results


@pytest.mark.parametrize("cpu", (FAILED, NOT_RUN, SKIPPED | {"passed": 0}), ids=("failed", "not run", "all skipped"))
def test_exit_code(monkeypatch, cpu):
    """One version whose CPU tests do not all pass is enough; a version that is not asked for does not count."""
    results = {version: {"CPU": PASSED, "Ascend": PASSED} for version in ("2.8.0", "2.9.0", "2.10.0")}
    results["2.9.0"]["CPU"] = cpu
    assert run_main(monkeypatch, results) == 1
    assert run_main(monkeypatch, results, "2.8.0", "2.10.0") == 0


def test_claimed_versions(monkeypatch):
    """Those that pip lists and pyproject.toml accepts, oldest first."""
    listed = "mindspore (2.11.0)\nAvailable versions: 2.11.0, 2.10.0, 2.9.0, 2.8.0, 2.7.2, 2.7.1.post1\n"
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, listed))
    assert run_versions.claimed_versions() == ["2.8.0", "2.9.0", "2.10.0"]


@pytest.fixture
def suite(monkeypatch, tmp_path):
    """A function that runs the source of a test file as a target's tests."""

    def run(source):
        (tmp_path / "conftest.py").write_text("def pytest_addoption(parser):\n    parser.addoption('--device')\n")
        (tmp_path / "test_it.py").write_text(source)
        monkeypatch.setattr(run_versions, "TESTS", tmp_path)
        monkeypatch.setattr(run_versions, "FILES", {"CPU": ("test_it",)})
        return run_versions.test(sys.executable, "CPU", tmp_path)

    return run


def test_count(suite):
    """What pytest reports; an error in a fixture is a failure."""
    result = suite(
        "import pytest\n"
        "@pytest.fixture\n"
        "def broken():\n    raise OSError\n"
        "@pytest.mark.parametrize('n', range(4))\n"
        "def test_passes(n): pass\n"
        "def test_fails(): assert False\n"
        "def test_error(broken): pass\n"
        "def test_skipped(): pytest.skip('not here')\n"
    )
    assert result == {
        "passed": 4,
        "failed": 2,
        "skipped": 1,
        "failures": ["test_it::test_error", "test_it::test_fails"],
    }


def test_file_that_does_not_import(suite):
    """It is a failure, not an absence of tests."""
    result = suite("import no_such_module\n")
    assert (result["passed"], result["failed"]) == (0, 1)


def test_crash(suite):
    """A process that ends before pytest reports has no result, but a reason."""
    result = suite("import os\ndef test_crash():\n    os.write(1, b'\\nlast words\\n')\n    os.abort()\n")
    assert result["reason"].startswith("SIGABRT: ")


def test_timeout(suite, monkeypatch):
    """Tests that hang are ended."""
    monkeypatch.setattr(run_versions, "TIMEOUT", 0.5)
    assert suite("import time\ndef test_hang():\n    time.sleep(60)\n")["reason"] == "not done in 0.5 s"


@pytest.fixture
def environment(monkeypatch, tmp_path):
    """A function that puts a shell script in the place of a version's Python."""

    def make(script):
        monkeypatch.setattr(run_versions, "ENVIRONMENTS", tmp_path)
        python = tmp_path / "2.9.0" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)

    return make


def test_version_that_does_not_install(environment):
    """Nothing is run, and pip's last line is the reason."""
    environment("echo no such version; exit 1")
    reason = "not installed, exit code 1: no such version"
    assert run_versions.run_version("2.9.0") == {"CPU": {"reason": reason}, "Ascend": {"reason": reason}}


def test_commands(environment, tmp_path):
    """The package is installed with the version; the Ascend tests are started by activate.py."""
    environment(f'echo "$*" >> {tmp_path}/commands')
    result = run_versions.run_version("2.9.0")
    assert [by["reason"] for by in result.values()] == ["no test ran", "no test ran"]
    install, cpu, ascend = (tmp_path / "commands").read_text().splitlines()
    assert install.split()[-2:] == ["mindspore==2.9.0", f"{run_versions.REPOSITORY}[test]"]
    assert cpu.startswith("-m pytest") and "--device CPU" in cpu and cpu.count(".py") == 6
    assert ascend.startswith(f"{run_versions.ACTIVATE} -- python -m pytest") and "--device Ascend" in ascend
