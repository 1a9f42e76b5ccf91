"""The programs of tests/npu: they run on the virtual NPU, and they see what is wrong."""

import csv
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import oracle
import pytest

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS / "npu"), str(TESTS / "virtual_npu")]
import c_api
import predict
import read_profile


def test_checks_run_on_the_virtual_npu(tmp_path):
    """All of them pass there but those that need an NPU, which say so."""
    activate = [sys.executable, TESTS / "virtual_npu" / "activate.py", "--"]
    pytest_ = ["python", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--device", "Ascend", TESTS / "npu"]
    run = subprocess.run(
        [*map(str, activate + pytest_)], cwd=tmp_path, check=False, capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed, 1 skipped" in run.stdout
    assert "needs an Atlas A2" in run.stdout


class FakeDevice:
    """A device in NumPy that makes one mistake, or none."""

    def __init__(self, mistake=None):
        """Keep the mistake, a function of (memory, start and end of out in bytes)."""
        self.bytes = np.zeros(1 << 24, np.uint8)
        self.used = 0
        self.mistake = mistake
        self.calls = []

    @contextmanager
    def memory(self, size):
        """Return the address of `size` bytes."""
        address = self.used
        self.used += size
        yield address
        self.used -= size

    def write(self, address, array):
        """Copy an array to the device."""
        self.bytes[address : address + array.nbytes] = array.view(np.uint8)

    def read(self, address, array):
        """Fill an array from the device."""
        array.view(np.uint8)[:] = self.bytes[address : address + array.nbytes]

    def hardtanh_grad(self, dtype, count, *places):
        """Compute on the device."""
        numpy_dtype = np.dtype("uint16" if dtype == "bfloat16" else dtype)
        size = count * numpy_dtype.itemsize
        starts = [address + offset * numpy_dtype.itemsize for address, offset in places]
        grad_output, self_ = (self.bytes[start : start + size].view(numpy_dtype) for start in starts[:2])
        self.write(starts[2], oracle.hardtanh_grad(grad_output, self_, *c_api.BOUNDS))
        self.calls.append((dtype, count))
        if self.mistake:
            self.mistake(self.bytes, starts[2], starts[2] + size)


def round_up(memory, start, end):
    """Write whole blocks of 512 bytes."""
    memory[end : start + (end - start + 511) // 512 * 512] = 0


def before(memory, start, end):
    """Write the block of 32 bytes in which out starts."""
    memory[start // 32 * 32 : start] = 0


def forget(memory, start, end):
    """Leave out the last byte."""
    memory[end - 1] ^= 0xFF


def rotate(memory, start, end):
    """Put every element one place too far."""
    memory[start:end] = np.roll(memory[start:end], 2)


@pytest.mark.parametrize("mistake", (round_up, before, forget))
def test_guards_see(mistake):
    """What is written around the tensors, or not written, is named; nothing is where nothing is wrong."""
    assert c_api.guards(FakeDevice(), lengths=(1, 257)) == []
    wrong = c_api.guards(FakeDevice(mistake), lengths=(1, 257))
    assert wrong and all(" of out differ" in text for text in wrong)


@pytest.mark.parametrize("mistake", (forget, rotate))
def test_large_sees(mistake):
    """An element that is not written, or lies in a wrong place, is found."""
    assert c_api.large(FakeDevice(), 10_001) == []
    assert c_api.large(FakeDevice(mistake), 10_001)


def test_launches():
    """They come in the order in which the profile is read."""
    device = FakeDevice()
    c_api.launches(device, sizes=(10, 20), repeats=2)
    assert device.calls == [case for case in c_api.cases((10, 20)) for _ in range(2)]


@pytest.fixture(scope="module")
def predictions():
    """The predictions for the launches."""
    return list(map(predict.predict, predict.count()))


@pytest.fixture
def profile(tmp_path, monkeypatch, predictions):
    """A function that writes a profile, after a change to its rows, and reads it."""
    monkeypatch.setattr(predict, "count", lambda: predictions)
    monkeypatch.setattr(predict, "predict", lambda prediction: prediction)
    by_case = {(p.dtype, p.elements): p for p in predictions}

    def read(change=lambda rows: rows, column="Block Dim", most_cores=48):
        rows = [
            {
                "OP Type": "HardtanhGrad",
                "Task Type": "AI_VECTOR_CORE",
                "Task Start Time(us)": f"{1000 + 10 * number}.5",
                "Task Duration(us)": by_case[case].total * 1e6 + number % c_api.REPEATS,
                column: by_case[case].cores,
            }
            for number, case in enumerate(case for case in c_api.cases() for _ in range(c_api.REPEATS))
        ]
        rows = change(rows)
        output = tmp_path / "PROF_1" / "mindstudio_profiler_output"
        output.mkdir(parents=True)
        with open(output / "op_summary_1.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows([*reversed(rows), rows[0] | {"OP Type": "Cast"}])
        return read_profile.main([str(tmp_path), f"--cores={most_cores}"])

    return read


@pytest.mark.parametrize("column", read_profile.CORE_COLUMNS)
def test_profile_as_predicted(profile, capsys, column):
    """The table has a row for each case, with the median and the predicted times."""
    assert profile(column=column) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(c_api.cases())
    assert "| 8388608 | float32 | 48 | 67.62 | 55.92 | 0.83 | 58.12 |" in lines


def changed(index, **values):
    """A change of one row."""

    def change(rows):
        rows[index] |= {name.replace("_", " "): value for name, value in values.items()}
        return rows

    return change


@pytest.mark.parametrize(
    "change, text",
    [
        (changed(3, Task_Type="AI_CORE"), "WRONG: 1024 float32: AI_CORE, AI_VECTOR_CORE instead of AI_VECTOR_CORE"),
        (changed(-1, Block_Dim=24), "WRONG: 67108864 bfloat16: cores [24, 48] instead of 48"),
    ],
    ids=["task type", "cores"],
)
def test_profile_sees(profile, capsys, change, text):
    """Another unit or another number of cores is wrong."""
    assert profile(change) == 1
    assert text in capsys.readouterr().out.splitlines()


def test_profile_of_another_soc(profile, capsys):
    """On an NPU with 40 vector cores no launch has more."""
    assert profile(most_cores=40) == 1
    wrong = [line for line in capsys.readouterr().out.splitlines() if line.startswith("WRONG")]
    assert wrong[0] == "WRONG: 262144 float32: cores [48] instead of 40"
    assert len(wrong) == 18


def test_profile_that_is_not_complete(profile):
    """A profile with launches missing is refused."""
    with pytest.raises(SystemExit, match="holds 599 launches of HardtanhGrad in .*; 600 are expected"):
        profile(lambda rows: rows[1:])
