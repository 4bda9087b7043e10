"""Wrong calls from Python, and the one sentence that says what to write instead."""

import math
import threading

import pytest
from wrong_uses import without_line

import culmen
from culmen import InputError, Study

pytestmark = pytest.mark.no_numbers

S = {"x": (-5, 5), "y": (-5, 5)}


def f(p):
    return p["x"] ** 2


def with_store(name):
    return lambda: culmen.minimize(f, S, budget=9, store=name)


LOCK = threading.Lock()
MINIMIZE = "culmen.minimize: "
CALLS = {
    "no end": (
        lambda: culmen.minimize(f, S),
        MINIMIZE + "at least one of budget, target, stagnation and wall_time_s must be given, otherwise the study "
        "may never end",
    ),
    "a value for the function": (
        lambda: culmen.minimize(f({"x": 1}), S, budget=9),
        MINIMIZE + "f must be a function, got 1",
    ),
    "a function of two": (
        lambda: culmen.minimize(lambda x, y: x + y, S, budget=9),
        MINIMIZE + "lambda x, y: takes 2 arguments, but culmen passes one; write lambda p: … p['x'] …",
    ),
    "a function of two, of a list": (
        lambda: culmen.minimize(lambda x, y: x + y, [(0, 1), (0, 1)], budget=9),
        MINIMIZE + "lambda x, y: takes 2 arguments, but culmen passes one; write lambda p: … p[0] …",
    ),
    "a function of a team, without a team": (
        lambda: culmen.minimize(lambda p, comm: p["x"], S, budget=9),
        MINIMIZE + "lambda p, comm: takes 2 arguments, but culmen passes one; write lambda p: …; for a "
        "communicator, set team_size",
    ),
    "a team, and a function without a communicator": (
        lambda: culmen.minimize(f, S, budget=9, team_size=2),
        MINIMIZE + "f(p) takes 1 argument, but culmen passes two, the parameters and a communicator; write "
        "def f(p, comm): …",
    ),
    "a team without a launch": (
        lambda: culmen.minimize(lambda p, comm: p["x"], S, budget=9, team_size=2),
        "team_size = 2: teams consist of the ranks of an MPI launch; start with culmen launch, mpiexec or srun",
    ),
    "a placement that is none": (
        lambda: culmen.minimize(f, S, budget=9, team_size=2, team_placement="nodes"),
        MINIMIZE + 'team_placement must be "node" or "any", got "nodes"; did you mean \'node\'?',
    ),
    "space and function exchanged": (
        lambda: culmen.minimize(S, "model.py:f", budget=9),
        "the space must be a dict such as {'x': (0, 1)}, or a list of pairs, got 'model.py:f'",
    ),
    "bounds upside down": (
        lambda: culmen.minimize(f, {"x": (5, -5)}, budget=9),
        "parameter 'x': lower bound 5 must be below upper bound -5",
    ),
    "one number for bounds": (
        lambda: culmen.minimize(f, (-5, 5), budget=9),
        "parameter 'x0': got -5; write culmen.fixed(-5)",
    ),
    "a table of a study file for bounds": (
        lambda: culmen.minimize(f, {"x": {"lower": -5, "upper": 5}}, budget=9),
        "parameter 'x': got {'lower': -5, 'upper': 5}; write culmen.real(lower=-5, upper=5)",
    ),
    "a value in a table for bounds": (
        lambda: culmen.minimize(f, {"x": (0, 1), "n": {"value": 5}}, budget=9),
        "parameter 'n': got {'value': 5}; write culmen.fixed(5)",
    ),
    "nothing for bounds": (
        lambda: culmen.minimize(f, {"x": None}, budget=9),
        "parameter 'x': it must be a pair (lower, upper) or one of culmen.real(…), integer, ordinal, "
        "categorical, boolean and fixed, got None",
    ),
    "a lock that cannot be sent": (
        lambda: culmen.minimize(lambda p: LOCK and p["x"], S, budget=9),
        MINIMIZE + "the function cannot be sent to other processes: cannot pickle '_thread.lock' object; the function "
        "uses LOCK, so make LOCK inside the function",
    ),
    "a range for bounds": (
        lambda: culmen.minimize(f, {"x": range(1, 10)}, budget=9),
        "parameter 'x': got range(1, 10); write culmen.integer(1, 9)",
    ),
    "a range in steps for bounds": (
        lambda: culmen.minimize(f, {"x": range(0, 5, 2)}, budget=9),
        "parameter 'x': got range(0, 5, 2); write culmen.ordinal([0, 2, 4])",
    ),
    "a scale beside bounds": (
        lambda: culmen.minimize(f, {"x": (0, 1, "log")}, budget=9),
        "parameter 'x': got (0, 1, 'log'); write culmen.real(0.1, 1, scale=\"log\")",
    ),
    "the name of a method": (
        lambda: culmen.minimize(f, S, budget=9, optimizer="CMA"),
        "culmen.minimize: there is no optimizer 'CMA' (here, this method is 'cmaes'); known are KNOWN",
    ),
    "choices for bounds": (
        lambda: culmen.minimize(f, {"x": ["a", "b", "c"]}, budget=9),
        "parameter 'x': got ['a', 'b', 'c']; write culmen.categorical(['a', 'b', 'c'])",
    ),
    "a text for choices": (
        lambda: culmen.minimize(f, {"x": culmen.categorical("ab")}, budget=9),
        "parameter 'x': choices must be a list of strings or numbers, got 'ab'",
    ),
    "a constraint in Python": (
        lambda: culmen.minimize(f, S, budget=9, constraints=lambda p: p["x"] < 1),
        "constraints must be strings such as 'x + y <= 1', got a function",
    ),
    "one start without its list": (
        lambda: culmen.minimize(f, S, budget=9, starts={"x": 1, "y": 1}),
        MINIMIZE + 'starts must be a list of dicts such as [{"x": 1, "y": 2}], or of lists with a number '
        'for each parameter, got {"x": 1, "y": 1}',
    ),
    "objectives without directions": (
        lambda: culmen.minimize(f, S, budget=9, objectives=["cost", "range"]),
        MINIMIZE + 'objectives must be a dict such as {"cost": "minimize"}, got ["cost", "range"]',
    ),
    "limits as a pair": (
        lambda: culmen.minimize(f, S, budget=9, limits={"stress": (0, 1)}),
        MINIMIZE + 'limits.stress must be a dict such as {"stress": {"upper": 250}}, got [0, 1]',
    ),
    "a budget in floating point": (
        lambda: culmen.minimize(f, S, budget=1e4 + 0.5),
        MINIMIZE + "budget must be a whole number, got 10000.5",
    ),
    "no workers": (
        lambda: culmen.minimize(f, S, budget=9, workers=0),
        MINIMIZE + "workers must be at least 1, got 0",
    ),
    "a target that is none": (
        lambda: culmen.minimize(f, S, budget=9, target=math.nan),
        MINIMIZE + "target must be a finite number, got NaN",
    ),
    "residual for residuals": (
        lambda: culmen.minimize(f, S, budget=9, result="residual"),
        MINIMIZE + 'result must be "value" or "residuals", got "residual"; did you mean \'residuals\'?',
    ),
    "a store in no folder": (with_store("there/fit.db"), "there/fit.db: there is no folder {folder}/there"),
    "a folder for a store": (with_store("."), ". is a folder; give a store"),
    "a model for a store": (
        with_store("model.py"),
        "model.py: is not a culmen study; give the store of a study, which `culmen run` writes as NAME.db",
    ),
    "a limit of none for a study": (
        lambda: Study.from_file("study.toml", evaluations=-1),
        "study.toml: evaluations must be at least 1, got -1",
    ),
    "a limit that there is not": (
        lambda: Study.from_file("study.toml", budget=9),
        "study.toml: there is no 'budget'; did you mean 'evaluations'?",
    ),
    "a study file for a store": (
        lambda: Study.from_store("study.toml"),
        "study.toml is a study file, not a store; `culmen run study.toml` runs it",
    ),
}


@pytest.mark.parametrize("mistake", CALLS)
def test_wrong_calls_from_python(folder, mistake):
    call, answer = CALLS[mistake]
    with pytest.raises(InputError) as error:
        call()
    known = ", ".join(culmen._core.optimizer_names())
    assert without_line(str(error.value)) == answer.replace("{folder}", str(folder)).replace("KNOWN", known)
    assert not (folder / "fit.db").exists()


def test_errors_are_called_as_they_are_caught():
    assert f"{InputError.__module__}.{InputError.__qualname__}" == "culmen.InputError"
