"""Folders with a study, for the tests of several files."""

import pytest
from harness import culmen, write_study
from wrong_uses import MODEL, STUDY


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with model.py and a study.toml that is correct."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


@pytest.fixture
def finished(tmp_path):
    """A folder with a study of 30 evaluations that has finished."""
    write_study(tmp_path, 30)
    assert culmen("run", "study.toml", "--quiet", cwd=tmp_path).returncode == 0
    return tmp_path


@pytest.fixture(params=["tcp", "ws", "wss"])
def scheme(request):
    """Of the address at which workers join."""
    return request.param


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    """The certificate of a run is not the user's."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
