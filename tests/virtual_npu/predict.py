"""Predict the kernel's time on ascend910b1 from what the virtual NPU counts, as the table of README.md.

    python tests/virtual_npu/predict.py

The model and what it leaves out are described there.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import toolkit

CLOCK = 1.85e9  # Hz
HBM = 1.8e12  # bytes/s, reads and writes together
L2 = 5.0e12  # bytes/s
L2_SIZE = 192 * 2**20  # bytes
CORE_HBM = (32, 32)  # bytes per cycle that one core reads and writes
CORE_L2 = (110, 86)
LAUNCH = 2e-6  # seconds until the first instruction, an assumption


class Prediction(NamedTuple):
    """One launch. Times are in seconds; copy_l2 is None when the three tensors do not fit L2."""

    elements: int
    dtype: str
    cores: int
    tiles: tuple[int, int]  # per core, fewest and most
    copies: tuple[int, int]  # bytes, smallest and largest
    copy: float
    copy_l2: float | None
    vector: float
    total: float

    @property
    def bound(self):
        """The largest part of the total."""
        parts = {"copy": self.copy, "vector": self.vector, "launch": LAUNCH}
        return max(parts, key=parts.get)


def count():
    """Run the kernel from 1 K to 64 M elements of each dtype and return the records of the launches."""
    directory = toolkit.build()
    program = subprocess.run(
        [Path(directory) / "bin" / "counters"],
        env=os.environ | toolkit.environment(directory),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(program.stdout)["launches"]


def copy_time(cores, bandwidth, per_core):
    """The time of all copies: bound by the memory, or by the core that reads or writes most."""
    read, written = ([core[name] for core in cores] for name in ("bytesRead", "bytesWritten"))
    return max(
        (sum(read) + sum(written)) / bandwidth, max(read) / (per_core[0] * CLOCK), max(written) / (per_core[1] * CLOCK)
    )


def predict(launch):
    """Predict one launch from its record."""
    cores = launch["cores"]
    slowest = max(cores, key=lambda core: core["repeats"])
    moved = launch["copiesIn"]["bytes"] + launch["copiesOut"]["bytes"]
    sizes = [size for direction in ("copiesIn", "copiesOut") for size, _ in launch[direction]["sizes"]]
    tiles = [core["tiles"] for core in cores]
    copy = copy_time(cores, HBM, CORE_HBM)
    vector = slowest["repeats"] / CLOCK
    if max(tiles) == 1:
        total = LAUNCH + copy + vector
    else:  # double buffered: only one tile's vector work is not under a copy
        total = LAUNCH + max(copy, vector) + vector / slowest["tiles"]
    return Prediction(
        sum(core["elements"] for core in cores),
        Path(launch["kernel"]).stem.removeprefix("HardtanhGrad_"),
        launch["blockDim"],
        (min(tiles), max(tiles)),
        (min(sizes), max(sizes)),
        copy,
        copy_time(cores, L2, CORE_L2) if moved <= L2_SIZE else None,
        vector,
        total,
    )


def table(predictions):
    """Lay the predictions out in Markdown; dtypes with the same row share it."""

    def span(values, scale=1, digits=0):
        low, high = (f"{value / scale:.{digits}f}" for value in values)
        return low if low == high else f"{low} to {high}"

    rows = {}
    for p in predictions:
        size = f"{p.elements // 2**20} M" if p.elements >= 2**20 else f"{p.elements // 2**10} K"
        copy_l2 = "" if p.copy_l2 is None else f"{p.copy_l2 * 1e6:.2f}"
        times = (f"{p.copy * 1e6:.2f}", copy_l2, f"{p.vector * 1e6:.2f}", f"{p.total * 1e6:.2f}", p.bound)
        row = (size, str(p.cores), span(p.tiles), span(p.copies, 1024, 1), *times)
        rows.setdefault((p.elements, row), []).append(p.dtype)
    lines = [
        "| elements | dtype | cores | tiles per core | KB per copy | copies, us | from L2, us | vector, us | total, us | bound |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (_, row), dtypes in sorted(rows.items(), key=lambda item: item[0][0]):
        lines.append(f"| {row[0]} | {', '.join(dtypes)} | {' | '.join(row[1:])} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(predict(launch) for launch in count()))
