"""The notebook of examples/19_notebook runs from its first cell to its last."""

import json
from pathlib import Path

from harness import ROOT
from profiles import AS_ROOT

NOTEBOOK = ROOT / "examples/19_notebook/collectives.ipynb"


def test_every_cell_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, value in AS_ROOT.items():
        monkeypatch.setenv(name, value)
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] for cell in cells)
    names = {}
    for cell in cells:
        exec(compile("".join(cell["source"]), NOTEBOOK.name, "exec"), names)  # noqa: S102
    assert "Wrote measured/collectives.csv" in capsys.readouterr().out
    assert set(names["fastest"]) == {8, 1024, 65536}
    assert "default" in {trace.name for trace in names["figure"].data}
    assert len(names["boxes"].data) == len(names["algorithms"]) > 3
    assert Path("measured/collectives.html").exists()
