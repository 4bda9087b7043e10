"""A folder with a study and an executor, for the tests of several files."""

from pathlib import Path

import pytest
from study_texts import STUDY

import culmen


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty folder, which is the current one, with a model and a study file that is right."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text("def chi2(p):\n    return p['x'] ** 2\n")
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


@pytest.fixture(scope="module")
def executor():
    """Two workers for the tests of a file."""
    with culmen.Executor(2) as pool:
        yield pool
