"""Mixed spaces, constraints and several objectives on ranks."""

import json

import pytest
from harness import PYTHON, culmen

pytestmark = pytest.mark.either("mpi")

SCRIPT = """
import json
import os
import pathlib
import culmen

result = culmen.minimize(
    lambda p: {"a": p["x"] ** 2 + (p["m"] == "slow"), "b": (p["x"] - 2) ** 2 + p.get("d", 0), "pid": 0},
    {"x": (-5, 5), "m": culmen.categorical(["slow", "quick"]), "d": culmen.integer(1, 3, active_when="m == 'slow'")},
    constraints=["x >= 0.5"],
    objectives={"a": "minimize", "b": "maximize"},
    optimizer="random",
    budget=150,
)
told = [result.best, result.values, [[t.evaluation, t.params, t.values] for t in result.front]]
pathlib.Path(f"{os.getpid()}.rank").write_text(json.dumps([culmen.is_master(), told]))
"""


def test_every_rank_gets_the_same_front(mpi, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = culmen("launch", "-n", 3, "--mpi", mpi, PYTHON, "script.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = [json.loads(file.read_text()) for file in tmp_path.glob("*.rank")]  # lines of ranks may mix
    assert len(told) == 3
    assert sum(master for master, _ in told) == 1
    assert told[0][1] == told[1][1] == told[2][1]
    front = told[0][1][2]
    assert front
    assert all(params["x"] >= 0.5 and ("d" in params) == (params["m"] == "slow") for _, params, _ in front)
