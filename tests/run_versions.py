"""Run the tests under every MindSpore version that the package claims, and print a table of the results.

    python tests/run_versions.py [--json FILE] [VERSION...]

The versions are those on PyPI for the running Python that pyproject.toml accepts. Each gets a virtual environment in
build/versions, which is kept, and in which the package is installed anew; what pip and pytest say is in its results/.
The Ascend tests run on the virtual NPU. The exit code is 1 when the CPU tests of a version do not all pass.
"""

import argparse
import json
import re
import signal
import subprocess
import sys
import venv
from pathlib import Path
from xml.etree import ElementTree

from packaging.requirements import Requirement

TESTS = Path(__file__).resolve().parent
REPOSITORY = TESTS.parent
ENVIRONMENTS = REPOSITORY / "build" / "versions"
ACTIVATE = TESTS / "virtual_npu" / "activate.py"
FILES = {
    "CPU": ("test_operator", "test_api", "test_contract", "test_builtin", "test_vendor", "test_doctor"),
    "Ascend": ("test_operator", "test_api"),
}
TIMEOUT = 3600  # seconds for the tests of one version on one target


def claimed_versions():
    """Return the versions of MindSpore on PyPI that pyproject.toml accepts, oldest first."""
    claim = Requirement(re.search(r'"(mindspore\b.*?)"', (REPOSITORY / "pyproject.toml").read_text()).group(1))
    index = [sys.executable, "-m", "pip", "index", "versions", "mindspore"]
    listed = subprocess.run(index, check=True, stdout=subprocess.PIPE, text=True).stdout
    published = re.search(r"^Available versions: (.+)$", listed, re.MULTILINE).group(1).split(", ")
    return list(claim.specifier.filter(reversed(published)))


def run(command, log, directory):
    """Run a command in a directory with its output in a file, and return what went wrong in words, if anything did."""
    with open(log, "w") as file:
        try:
            code = subprocess.run(
                [*map(str, command)], cwd=directory, stdout=file, stderr=file, timeout=TIMEOUT, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            return f"not done in {TIMEOUT} s"
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return None if code == 0 else f"{how}: {lines[-1] if lines else 'no output'}"


def test(python, target, directory):
    """Run a target's tests with a Python, from a directory that has nothing to import, and return their result.

    The result is a dict with the counts `passed`, `failed` and `skipped` and the names of the `failures`, or with the
    `reason` why there are none.
    """
    log, report = directory / f"{target}.log", directory / f"{target}.xml"
    report.unlink(missing_ok=True)
    files = [TESTS / f"{name}.py" for name in FILES[target]]
    command = ["-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={report}", "--device", target, *files]
    on_target = [python, ACTIVATE, "--", "python"] if target == "Ascend" else [python]
    wrong = run([*on_target, *command], log, directory)
    return count(report) if report.exists() else {"reason": wrong or "no test ran"}


def count(report):
    """Return the result that pytest wrote as JUnit XML, see test."""
    (suite,) = ElementTree.parse(report).getroot()
    bad = [case for case in suite.iter("testcase") if {child.tag for child in case} & {"failure", "error"}]
    total, skipped = int(suite.get("tests")), int(suite.get("skipped"))
    names = sorted({f"{case.get('classname').split('.')[-1]}::{case.get('name')}" for case in bad})
    return {"passed": total - skipped - len(bad), "failed": len(bad), "skipped": skipped, "failures": names}


def run_version(version):
    """Install a version of MindSpore and the package, and return its result per target."""
    home = ENVIRONMENTS / version
    python, directory = home / "bin" / "python", home / "results"
    if not python.exists():
        venv.create(home, with_pip=True)
    directory.mkdir(exist_ok=True)
    pip = [python, "-m", "pip", "install", "--quiet", f"mindspore=={version}", f"{REPOSITORY}[test]"]
    wrong = run(pip, directory / "install.log", directory)
    if wrong:
        return {target: {"reason": f"not installed, {wrong}"} for target in FILES}
    return {target: test(python, target, directory) for target in FILES}


def ok(result):
    """Whether tests ran and none failed."""
    return result.get("failed") == 0 and result["passed"] > 0


def describe(result):
    """Return the cell of the table for a target's result."""
    if "reason" in result:
        return "not run: " + result["reason"].replace("|", r"\|")
    text = f"{result['passed']} passed, {result['failed']} failed"
    return text + (f", {result['skipped']} skipped" if result["skipped"] else "")


def table(results):
    """Lay the results out in Markdown, and below them the names of the tests that failed."""
    lines = [f"| MindSpore | {' | '.join(FILES)} |", "|---" * (1 + len(FILES)) + "|"]
    lines += [f"| {version} | {' | '.join(map(describe, by.values()))} |" for version, by in results.items()]
    failures = [
        f"- {version}, {target}: {name}"
        for version, by in results.items()
        for target, result in by.items()
        for name in result.get("failures", ())
    ]
    return "\n".join(lines + ([""] + failures if failures else []))


def main(arguments=None):
    """Run the versions and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="MindSpore versions, in place of all claimed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results as JSON")
    options = parser.parse_args(arguments)
    results = {}
    for version in options.versions or claimed_versions():
        print(f"MindSpore {version}", file=sys.stderr, flush=True)
        results[version] = run_version(version)
    print(table(results))
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0 if all(ok(result["CPU"]) for result in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
