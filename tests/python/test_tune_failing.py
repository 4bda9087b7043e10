"""Settings of which a run failed do not win a search over settings that never failed."""

from types import SimpleNamespace

import numpy as np
import pytest
from culmen.bench.verdict import in_turns
from culmen.tune.app.choosing import best_of
from culmen.tune.app.writing import Choice
from culmen.tune.command.recipe import read_recipe
from culmen.tune.command.tuner import Tuner

import culmen

pytestmark = pytest.mark.no_numbers

FAILS_THE_SECOND_TIME = """#!/bin/sh
cd {folder}
echo $1 >> runs
[ $1 = 3 ] && [ $(grep -c 3 runs) = 2 ] && exit 7
echo "time = $(( 20 * ($1 - 3) * ($1 - 3) + 50 + 7 * $(grep -c . runs) % 5 ))"
"""
RECIPE = """
[space]
n = { type = "integer", lower = 1, upper = 9, initial = 8 }
k = { value = 7 }
[evaluator]
command = ["./app", "{n}"]
values = { time = { regex = 'time = (.*)' } }
[objectives]
time = "minimize"
[stop]
evaluations = 40
"""


def test_a_repetition_that_fails_counts_against_the_settings(tmp_path):
    (tmp_path / "app").write_text(FAILS_THE_SECOND_TIME.replace("{folder}", str(tmp_path)))
    (tmp_path / "app").chmod(0o755)
    (tmp_path / "app.toml").write_text(RECIPE)
    with Tuner(read_recipe(tmp_path / "app.toml"), tmp_path / "app.toml", tmp_path, quiet=True) as tuner:
        best = tuner.search()
    found = culmen.read(tmp_path / "search.db")
    runs = [status for n, status in zip(found.columns["n"], found.columns["status"], strict=True) if n == 3]
    assert {*runs} == {"ok", "failed"}, "3 is the best value, and a repetition of it failed"
    assert best["n"] in (2, 4)


A = Choice("bcast", 4, 512, 1023, 0.3, ("default", "flaky", "good"))
B = Choice("reduce", 4, 512, 1023, 0.3, ("default", "quick"))


def runs_with(rows):
    """Runs with these algorithms of A and B, and these times; NaN: the run failed."""
    values = np.array([[row[2]] for row in rows])
    feasible = ~np.isnan(values[:, 0])
    columns = {each.name: np.array([row[k] for row in rows], dtype=object) for k, each in enumerate((A, B))}
    return SimpleNamespace(columns=columns, values=values, feasible=feasible, told=np.arange(len(rows)))


def test_an_algorithm_that_fails_sometimes_is_not_chosen_and_others_of_its_runs_are():
    nan = float("nan")
    rows = [
        ("default", "default", 10.0), ("flaky", "quick", nan), ("flaky", "default", 5.0), ("flaky", "quick", 4.0),
        ("good", "quick", 7.0), ("good", "default", 8.0), ("default", "quick", 9.0), ("good", "quick", 7.1),
    ]  # fmt: skip
    assert best_of([A, B], runs_with(rows), maximize=False) == {A.name: "good", B.name: "quick"}


def test_failures_with_the_default_alone_blame_no_algorithm():
    rows = [
        ("default", "default", float("nan")),
        ("good", "quick", 7.0),
        ("good", "quick", 7.0),
        ("default",) * 2 + (9,),
    ]
    assert best_of([A, B], runs_with(rows), maximize=False) == {A.name: "good", B.name: "quick"}


FAILS_IN_TURNS = """#!/bin/sh
echo $1 >> {folder}/runs
[ $1 = 3 ] && {{ echo "no licence" >&2; exit 7; }}
[ $(grep -c . {folder}/runs) = 1 ] && {{ echo "the disk is full" >&2; exit 6; }}
echo "time = 5"
"""


def test_the_reason_is_that_of_the_new_settings(tmp_path):
    (tmp_path / "app").write_text(FAILS_IN_TURNS.format(folder=tmp_path))
    (tmp_path / "app").chmod(0o755)
    seed = next(seed for seed in range(99) if in_turns([0, 1], 3, seed)[0] == 0)
    (tmp_path / "app.toml").write_text(f"seed = {seed}\n{RECIPE}[tune]\nrounds = 3\n")
    with Tuner(read_recipe(tmp_path / "app.toml"), tmp_path / "app.toml", tmp_path, quiet=True) as tuner:
        compared = tuner.compare({"n": 3})
    assert (compared.present_failed, compared.new_failed) == (1, 3)
    assert "exit code 7" in compared.first_failure
    assert compared.first_failure.endswith("no licence")
