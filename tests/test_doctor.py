"""The doctor: `python -m ms_hardtanh_grad`."""

import json
import subprocess
import sys

import pytest

from ms_hardtanh_grad import __main__ as doctor
from ms_hardtanh_grad import registration


def run(*arguments):
    """The doctor as a user starts it."""
    return subprocess.run(
        [sys.executable, "-m", "ms_hardtanh_grad", *arguments], capture_output=True, text=True, check=False
    )


def test_text():
    """It says versions, libraries and the worked example, and succeeds."""
    done = run()
    assert done.returncode == 0, done.stderr
    assert "mindspore 2." in done.stdout
    assert str(registration.CPU_LIBRARY) in done.stdout
    assert done.stdout.count("[[0.0, 0.0], [0.0, 3.0], [0.0, 5.0], [0.0, 0.0]], as it should be") == 2


def test_json():
    """The same as JSON on stdout, nothing else."""
    done = run("--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["ok"] is True
    assert set(report) == {"versions", "device_target", "libraries", "passed_over", "worked_example", "ok"}
    assert report["worked_example"] == {mode: doctor.EXPECTED.tolist() for mode in ("GRAPH_MODE", "PYNATIVE_MODE")}


def test_failure_is_seen(monkeypatch, capsys):
    """A wrong result, or an error in place of one, fails and is shown."""
    for result in ([[1.0]], "RuntimeError: no kernel"):
        monkeypatch.setattr(doctor, "run_example", lambda mode, result=result: result)
        assert doctor.main([]) == 1
        assert f"{result}, WRONG" in capsys.readouterr().out


def test_unknown_argument():
    """A wrong argument is refused with the usage."""
    with pytest.raises(SystemExit):
        doctor.main(["--jason"])
