"""The callback of a study on ranks."""

import json

import pytest
from harness import PYTHON, culmen

pytestmark = pytest.mark.either("mpi")

SCRIPT = """
import json
import os
import pathlib
import culmen

seen = []

def watch(evaluated):
    seen.append(evaluated.evaluations)
    return len(seen) == 7

result = culmen.minimize(
    lambda p: p["x"] ** 2, {"x": (-1, 1)}, optimizer="random", budget=10**9, callback=watch
)
kept = len(result.read()) if culmen.is_master() else 0
told = [seen, kept, [result.reason, result.message, result.best, result.evaluations]]
pathlib.Path(f"{os.getpid()}.rank").write_text(json.dumps([culmen.is_master(), *told]))
"""


def test_it_is_called_in_the_master_and_every_rank_gets_the_result(mpi, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = culmen("launch", "-n", 3, "--mpi", mpi, PYTHON, "script.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = [json.loads(file.read_text()) for file in tmp_path.glob("*.rank")]
    assert sorted((master, seen) for master, seen, *_ in told) == [(False, []), (False, []), (True, list(range(1, 8)))]
    assert told[0][3] == told[1][3] == told[2][3]
    reason, message, _, evaluations = told[0][3]
    assert (reason, message) == ("callback", f"stopped by the callback after {evaluations} evaluations")
    assert max(kept for _, _, kept, _ in told) == evaluations
