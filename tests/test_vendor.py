"""How the package finds the vendor package for Ascend, and what it says when it does not."""

import subprocess
import sys
import warnings

import pytest

from ms_hardtanh_grad import contract, vendor


def make_package(directory, source=f"void {contract.ACLNN_NAME}(void) {{}}"):
    """A vendor directory whose library is compiled from C."""
    library = directory / vendor.LIBRARY
    library.parent.mkdir(parents=True)
    compiler = ["g++", "-shared", "-x", "c", "-", "-o", str(library)]
    subprocess.run(compiler, input=source, text=True, check=True)
    return directory


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    """Start without CANN's variables."""
    monkeypatch.delenv(vendor.CUSTOM_PATHS, raising=False)
    monkeypatch.delenv("ASCEND_OPP_PATH", raising=False)


def test_order(tmp_path, monkeypatch):
    """First what ASCEND_CUSTOM_OPP_PATH names, then CANN's vendors by load_priority."""
    installed = tmp_path / "opp" / "vendors"
    (installed / "elsewhere").mkdir(parents=True)
    (installed / "config.ini").write_text("load_priority=second,third\n")
    monkeypatch.setenv("ASCEND_OPP_PATH", str(tmp_path / "opp"))
    monkeypatch.setenv(vendor.CUSTOM_PATHS, f"{tmp_path / 'first'}::")
    assert vendor.search_path() == [tmp_path / "first", installed / "second", installed / "third"]
    third = make_package(installed / "third")
    assert vendor.find() == (
        third / vendor.LIBRARY,
        [(d / vendor.LIBRARY, "no such file") for d in (tmp_path / "first", installed / "second")],
    )
    first = make_package(tmp_path / "first")
    assert vendor.find() == (first / vendor.LIBRARY, [])


def test_library_that_cannot_serve(tmp_path, monkeypatch):
    """A library that does not load, or lacks the operator, is passed over with its reason."""
    lacks, broken = make_package(tmp_path / "lacks", "int other;"), make_package(tmp_path / "broken")
    (broken / vendor.LIBRARY).write_text("not a library")
    monkeypatch.setenv(vendor.CUSTOM_PATHS, f"{lacks}:{broken}")
    library, passed = vendor.find()
    assert library is None
    assert passed[0] == (lacks / vendor.LIBRARY, f"has no {contract.ACLNN_NAME}")
    assert "invalid ELF header" in passed[1][1] or "file too short" in passed[1][1]
    with pytest.raises(RuntimeError, match="(?s)no vendor package serves.*lacks.*broken.*build.sh"):
        vendor.require()


def test_nothing_serves():
    """Without a vendor package and without CANN's operator, the error says how to get one."""
    with pytest.raises(RuntimeError, match="ASCEND_CUSTOM_OPP_PATH names no vendor package.*pip install"):
        vendor.require()


def test_cann_serves(tmp_path, monkeypatch):
    """Where CANN's own operator would be taken silently, a warning says so."""
    cann = make_package(tmp_path / "cann") / vendor.LIBRARY
    monkeypatch.setattr(vendor, "CANN_LIBRARIES", ("libabsent.so", str(cann)))
    with pytest.warns(UserWarning, match="CANN's own operator is used, since no vendor package serves"):
        vendor.require()
    monkeypatch.setenv(vendor.CUSTOM_PATHS, str(make_package(tmp_path / "ours")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vendor.require()


def test_bundled_package_is_added_behind_others(tmp_path, monkeypatch):
    """The bundled package is put last, once, and what the user named stays."""
    monkeypatch.setattr(vendor, "BUNDLED", tmp_path / "bundled")
    monkeypatch.setenv(vendor.CUSTOM_PATHS, "/mine")
    vendor._add_bundled_package()
    assert vendor._custom_paths() == [tmp_path.__class__("/mine")]
    make_package(tmp_path / "bundled")
    vendor._add_bundled_package()
    vendor._add_bundled_package()
    assert list(map(str, vendor._custom_paths())) == ["/mine", str(tmp_path / "bundled")]


def test_late_import_is_said(tmp_path, monkeypatch):
    """Added after MindSpore's first operation on Ascend, the bundled package would not be seen: a warning says so."""
    monkeypatch.setattr(vendor, "BUNDLED", make_package(tmp_path / "bundled"))
    monkeypatch.setattr(sys.modules["mindspore"].hal, "is_initialized", lambda target: target == "Ascend")
    with pytest.warns(UserWarning, match="imported after MindSpore had read"):
        vendor._add_bundled_package()


def test_import_order():
    """The vendor module comes before anything that imports mindspore."""
    code = (
        "import sys; sys.modules['mindspore'] = None\n"
        "try:\n    import ms_hardtanh_grad\nexcept ImportError:\n    pass\n"
        "assert 'ms_hardtanh_grad.vendor' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
