"""Doctor: what runs where, and the worked example on this machine. Run with `python -m ms_hardtanh_grad [--json]`."""

import argparse
import json
import platform
import sys

import mindspore as ms
import numpy as np

import ms_hardtanh_grad as htg
from ms_hardtanh_grad import registration, vendor

BOUNDS = (1.2, 2.4)
X = np.array([[1, 1], [1, 2], [1, 2], [3, 3]], np.float32)
GRAD_OUTPUT = np.arange(8, dtype=np.float32).reshape(4, 2)
EXPECTED = np.array([[0, 0], [0, 3], [0, 5], [0, 0]], np.float32)


class WorkedExample(ms.nn.Cell):
    """The contract's example as a cell."""

    def construct(self, grad_output, x):
        """Return HardtanhGrad with the example's bounds."""
        return htg.hardtanh_grad(grad_output, x, *BOUNDS)


def run_example(mode):
    """The example's result in a mode, as a list, or the error that it gave."""
    ms.set_context(mode=getattr(ms, mode))
    try:
        return WorkedExample()(ms.Tensor(GRAD_OUTPUT), ms.Tensor(X)).asnumpy().tolist()
    except (RuntimeError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}".split("\n")[0]


def examine():
    """Everything the doctor says, as a dict."""
    target = ms.get_context("device_target")
    library, passed = vendor.find()
    results = {mode: run_example(mode) for mode in ("GRAPH_MODE", "PYNATIVE_MODE")}
    return {
        "versions": {
            "ms_hardtanh_grad": htg.__version__,
            "mindspore": ms.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "device_target": target,
        "libraries": {
            "CPU": str(registration.CPU_LIBRARY) if registration.CPU_LIBRARY.exists() else None,
            "Ascend": str(library) if library else None,
        },
        "passed_over": {str(path): reason for path, reason in passed},
        "worked_example": results,
        "ok": all(result == EXPECTED.tolist() for result in results.values()),
    }


def describe(report):
    """The report as text."""
    yield ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    for target, library in report["libraries"].items():
        used = " (this machine's device_target)" if target == report["device_target"] else ""
        yield f"{target}{used}: {library or 'no library'}"
    for path, reason in report["passed_over"].items():
        yield f"  passed over {path}: {reason}"
    if not report["libraries"]["Ascend"]:
        yield f"  for Ascend: {vendor.HOW_TO_BUILD}"
    for mode, result in report["worked_example"].items():
        verdict = "as it should be" if result == EXPECTED.tolist() else f"WRONG, should be {EXPECTED.tolist()}"
        yield f"worked example in {mode}: {result}, {verdict}"


def main(arguments=None):
    """Print the report; the exit code is 0 if the worked example came out right in both modes."""
    parser = argparse.ArgumentParser(prog="python -m ms_hardtanh_grad", description="what runs where")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    as_json = parser.parse_args(arguments).json
    report = examine()
    print(json.dumps(report, indent=2) if as_json else "\n".join(describe(report)))
    return 0 if report["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
