"""Folders with a study, for the tests of several files."""

import pytest
from wrong_uses import MODEL, STUDY


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with model.py and a study.toml that is correct."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path
