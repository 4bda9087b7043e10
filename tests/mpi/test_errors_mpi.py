"""Errors of fits on the ranks of both MPIs: the ranks stay for them, and every rank of a script gets the same."""

import json

import pytest
from harness import PYTHON, RANKS, culmen, under, write_fit

from culmen import _core

pytestmark = pytest.mark.either("mpi")

MODEL = "def f(p): return [p['a'] - 1, 2 * (p['b'] - 2), p['a'] * p['b'] - 2]\n"
SPACE = "a = { lower = -5, upper = 5 }\nb = { lower = -5, upper = 5 }"


@pytest.fixture
def folder(tmp_path):
    write_fit(tmp_path, MODEL, SPACE, 400, workers=None)
    return tmp_path


def test_the_ranks_of_a_run_stay_for_its_errors(mpi, folder):
    done = culmen(*under(mpi, "run", "study.toml"), cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "culmen made 4 more evaluations" in done.stdout
    there = json.loads(_core.Store.read(str(folder / "study.db")).note("errors"))
    again = culmen(*under(mpi, "errors", "study.db", "--again", "--profile", "--json"), cwd=folder)
    assert (again.returncode, again.stderr) == (0, "")
    here = json.loads(culmen("errors", "study.db", "--again", "--profile", "--json", cwd=folder).stdout)
    assert json.loads(again.stdout.splitlines()[-1]) == here
    assert here["covariance"] == there["covariance"]


def test_a_mistake_is_one_sentence_and_all_ranks_leave(mpi, folder):
    done = culmen(*under(mpi, "errors", "nix.db"), cwd=folder)
    assert (done.returncode, done.stderr.count("there is no store nix.db")) == (2, 1)


SCRIPT = """
import culmen
def f(p): return [p["a"] - 1, 2 * (p["b"] - 2)]
for _ in range(2):
    result = culmen.minimize(f, {"a": (-5, 5), "b": (-5, 5)}, budget=400, result="residuals")
    print(f"rank: {result.errors['b'].error:.6f} from {result.errors.evaluations}\\n", end="")
value = culmen.minimize(lambda p: p["a"] ** 2, {"a": (-5, 5)}, budget=50)
print(f"store: {culmen.errors('study.db')['b'].error:.6f}\\n", end="")
try:
    culmen.errors("nix.db")
except culmen.CulmenError as e:
    print(f"refused: {e}\\n", end="")
with culmen.Study.from_store("study.db").evaluations() as evaluate:
    print("alone:", [outcome.value for outcome in evaluate([{"a": 1.0, "b": 2.0}, [1.0, 3.0]])])
"""


def test_every_rank_of_a_script_gets_them(mpi, folder):
    (folder / "script.py").write_text(SCRIPT)
    assert culmen("run", "study.toml", "--no-errors", "--quiet", cwd=folder).returncode == 0
    done = culmen(*under(mpi, PYTHON, "script.py"), cwd=folder)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines.count("rank: 0.500000 from 4") == 2 * RANKS[mpi]
    assert sum(line.startswith("store: ") for line in lines) == RANKS[mpi]
    assert len({line for line in lines if line.startswith("store: ")}) == 1
    assert lines.count("refused: there is no store nix.db") == RANKS[mpi]
    assert lines.count("alone: [0.0, 5.0]") == 1


FRAGILE = """
import culmen
def f(p):
    if p["a"] != 1:
        raise ValueError("only the start works")
    return [p["a"] - 1, 2.0]
result = culmen.minimize(f, {"a": (-5, 5)}, budget=1, starts=[{"a": 1}], result="residuals", optimizer="random")
try:
    result.errors
except culmen.CulmenError as e:
    print(f"{e}\\n", end="")
"""


def test_every_rank_of_a_script_knows_why_there_are_none(mpi, tmp_path):
    (tmp_path / "script.py").write_text(FRAGILE)
    done = culmen(*under(mpi, PYTHON, "script.py"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    reason = "this result has no errors: no derivative could be computed: a: ValueError: only the start works"
    assert done.stdout.splitlines().count(reason) == RANKS[mpi], done.stdout


FRAGILE_STUDY = """
starts = [{ a = 1 }]
[space]
a = { lower = -5, upper = 5 }
[evaluator]
python = "model.py:f"
result = "residuals"
[optimizer]
name = "random"
[stop]
evaluations = 1
"""
ERRORS = """
import culmen
try:
    culmen.errors("study.db")
except culmen.CulmenError as e:
    print(f"{type(e).__name__}: {e}\\n", end="")
"""


def test_every_rank_raises_the_error_of_rank_zero(mpi, tmp_path):
    (tmp_path / "study.toml").write_text(FRAGILE_STUDY)
    (tmp_path / "model.py").write_text("\n".join(FRAGILE.splitlines()[2:6]))
    assert culmen("run", "study.toml", "--no-errors", "--quiet", cwd=tmp_path).returncode == 0
    (tmp_path / "script.py").write_text(ERRORS)
    done = culmen(*under(mpi, PYTHON, "script.py"), cwd=tmp_path)
    reason = "InputError: no derivative could be computed: a: ValueError: only the start works"
    assert done.stdout.splitlines().count(reason) == RANKS[mpi], done.stdout + done.stderr


def test_every_rank_of_a_cpp_program_gets_the_errors_of_its_fit(mpi, world_program, tmp_path):
    done = culmen("launch", "-n", RANKS[mpi], "--mpi", mpi, world_program.with_name("fit_program"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines.count("rank: 1.000000 2.000000 errors 1.000000 0.353553") == RANKS[mpi]
    reason = "no derivative could be computed: a: only the start; b: only the start"
    assert lines.count(f"0 errors: {reason}") == RANKS[mpi]
