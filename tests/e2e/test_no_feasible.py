"""A study in which no evaluation satisfies the limits: every display says so."""

import json

import pytest
from harness import culmen as typed

import culmen

STUDY = """
[space]
x = { lower = -5, upper = 5 }
[evaluator]
python = "model.py:f"
[limits]
stress = { upper = 3 }
[stop]
evaluations = 20
"""
MODEL = 'def f(p):\n    return p["x"] ** 2, {"stress": p["x"] + 10}\n'
SENTENCE = "no evaluation satisfies all constraints and limits"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("no_feasible")
    (folder / "study.toml").write_text(STUDY)
    (folder / "model.py").write_text(MODEL)
    return folder


@pytest.fixture(scope="module")
def printed(folder):
    return typed("run", "study.toml", cwd=folder).stdout


def test_the_end_of_a_run_says_it(printed):
    assert f"violation    2: {SENTENCE}" in printed


def test_status_says_it(folder, printed):
    assert f"violation    2: {SENTENCE}" in typed("status", "study.db", cwd=folder).stdout
    assert json.loads(typed("status", "study.db", "--json", cwd=folder).stdout)["best_violation"] == 2


def test_compare_and_report_say_it(folder, printed):
    (folder / "copy.db").write_bytes((folder / "study.db").read_bytes())
    typed("report", "study.db", cwd=folder)
    assert f"2: {SENTENCE}" in (folder / "study.html").read_text()
    assert "; violation 2)" in typed("compare", "study.db", "copy.db", cwd=folder).stdout


def test_the_result_in_python_says_it():
    limits = {"stress": {"upper": 3}}
    result = culmen.minimize(lambda p: (p["x"], {"stress": p["x"] + 10}), {"x": (-5, 5)}, limits=limits, budget=20)
    assert f"; violation 2: {SENTENCE}; limit of evaluations reached" in repr(result)


def test_a_feasible_result_does_not_speak_of_it(folder):
    wide = (folder / "study.toml").read_text().replace("upper = 3", "upper = 30")
    (folder / "wide.toml").write_text(wide)
    assert "violation" not in typed("run", "wide.toml", cwd=folder).stdout
    assert "violation" not in typed("status", "wide.db", cwd=folder).stdout
    limits = {"stress": {"upper": 30}}
    result = culmen.minimize(lambda p: (p["x"], {"stress": p["x"] + 10}), {"x": (-5, 5)}, limits=limits, budget=20)
    assert "violation" not in repr(result)


def test_a_front_is_shown_without_the_best_in_one_objective():
    goals = {"a": "minimize", "b": "minimize"}
    result = culmen.minimize(lambda p: (p["x"] ** 2, (p["x"] - 2) ** 2), {"x": (-5, 5)}, objectives=goals, budget=20)
    assert repr(result).startswith(f"Result({len(result.front)} candidates on the Pareto front; limit of")
