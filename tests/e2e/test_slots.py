"""Functions that fork: a copy of the slot must never answer in its place."""

import pytest
from harness import Running, outcomes, sequence, wait_for

pytestmark = pytest.mark.no_numbers

STUDY = """
[space]
x = { lower = -5, upper = 5 }
[optimizer]
name = "random"
[evaluator]
python = "model.py:f"
[stop]
evaluations = 200
"""
MODELS = {
    "the copy leaves": """
def f(p):
    if os.fork() == 0:
        sys.exit(0)
    return p["x"]
""",
    "the copy raises": """
def f(p):
    if os.fork() == 0:
        raise ValueError("of the copy")
    return p["x"]
""",
    "both return": """
def f(p):
    os.fork()
    return p["x"]
""",
    "at import": """
if os.fork() == 0:
    sys.exit(0)
os.fork()

def f(p):
    return p["x"]
""",
}


@pytest.mark.parametrize("place", [[], ["--worker-processes"]], ids=["threads", "processes"])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_a_function_that_forks_gives_its_own_values_only(tmp_path, model, place):
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "model.py").write_text(f"import os, sys\n{model}")
    with Running("run", "study.toml", "--workers", "2", "--quiet", *place, cwd=tmp_path) as run:
        code, _, err = run.end()
        assert code == 0, err
        wait_for(lambda: not run.processes(), "nothing to be left")
    store = tmp_path / "study.db"
    asked = {entry[1]: entry[2] for entry in sequence(store) if entry[0] == "ask"}
    told = outcomes(store)
    assert len(told) == 200
    assert {number: (status, value) for number, (status, value, _) in told.items()} == {
        number: ("ok", asked[number]) for number in told
    }


def test_a_function_with_a_pool_of_processes_ends(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY.replace("evaluations = 200", "evaluations = 20"))
    (tmp_path / "model.py").write_text("""
import multiprocessing

def f(p):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return sum(pool.map(abs, [p["x"], -p["x"]]))
""")
    with Running("run", "study.toml", "--workers", "2", "--quiet", cwd=tmp_path) as run:
        code, _, err = run.end()
        assert code == 0, err
    assert [status for status, _, _ in outcomes(tmp_path / "study.db").values()] == 20 * ["ok"]
