from pathlib import Path

import pytest

STUDY = """
[space]
x = { lower = -5, upper = 5 }
tau = { lower = 1e-6, upper = 1.0, scale = "log" }
n = { type = "integer", lower = 1, upper = 10 }

[evaluator]
python = "model.py:chi2"

[stop]
evaluations = 100
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty folder, which is the current one, with a model and a study file that is right."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text("def chi2(p):\n    return p['x'] ** 2\n")
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path
