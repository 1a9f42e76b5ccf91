"""Compare what msprof measured of `c_api.py launches` with what the kernel should do, as a table.

    msprof --task-time=l1 --output=profile python tests/npu/c_api.py LIBRARY launches
    python tests/npu/read_profile.py profile [--cores 40]

The expected cores and the copies' time are those of the prediction in tests/virtual_npu/README.md. The exit code is 1
when a launch was no task of vector cores only, or ran on another number of them.
"""

import argparse
import csv
import statistics
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "virtual_npu")]
import c_api
import predict

OP_TYPE = "HardtanhGrad"
TASK_TYPE = "AI_VECTOR_CORE"
CORE_COLUMNS = ("Block Dim", "Block Num")  # before and from CANN 9


def read_launches(directory):
    """Return the rows of the operator in the op_summary files below a directory, in the order of time."""
    rows = []
    for path in sorted(directory.rglob("op_summary_*.csv")):
        with open(path, newline="") as file:
            rows += [row for row in csv.DictReader(file) if row["OP Type"] == OP_TYPE]
    expected = len(c_api.cases()) * c_api.REPEATS
    if len(rows) != expected:
        sys.exit(f"{directory} holds {len(rows)} launches of {OP_TYPE} in op_summary_*.csv; {expected} are expected.")
    return sorted(rows, key=lambda row: float(row["Task Start Time(us)"]))


def compare(rows, predictions, most_cores):
    """Return the lines of the table, and what is wrong with the launches."""
    lines = [
        "| elements | dtype | cores | measured, us | copies at full bandwidth, us | share | total predicted, us |",
        "|---|---|---|---|---|---|---|",
    ]
    wrong = []
    for number, (dtype, elements) in enumerate(c_api.cases()):
        launches = rows[number * c_api.REPEATS : (number + 1) * c_api.REPEATS]
        prediction = predictions[dtype, elements]
        expected = min(prediction.cores, most_cores)
        tasks = {launch["Task Type"] for launch in launches}
        cores = {int(launch[name]) for launch in launches for name in CORE_COLUMNS if name in launch}
        if tasks != {TASK_TYPE}:
            wrong.append(f"{elements} {dtype}: {', '.join(sorted(tasks))} instead of {TASK_TYPE}")
        if cores != {expected}:
            wrong.append(f"{elements} {dtype}: cores {sorted(cores)} instead of {expected}")
        measured = statistics.median(float(launch["Task Duration(us)"]) for launch in launches)
        copy, total = prediction.copy * 1e6, prediction.total * 1e6
        lines.append(
            f"| {elements} | {dtype} | {', '.join(map(str, sorted(cores)))} | {measured:.2f} | {copy:.2f} | "
            f"{copy / measured:.2f} | {total:.2f} |"
        )
    return lines, wrong


def main(arguments=None):
    """Print the table and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, metavar="DIRECTORY", help="what msprof's --output named")
    parser.add_argument("--cores", type=int, default=48, help="vector cores: 48 (910B1, 910B2) or 40 (910B3, 910B4)")
    options = parser.parse_args(arguments)
    rows = read_launches(options.directory)
    predictions = {(p.dtype, p.elements): p for p in map(predict.predict, predict.count())}
    lines, wrong = compare(rows, predictions, options.cores)
    print("\n".join(lines + [f"WRONG: {text}" for text in wrong]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
