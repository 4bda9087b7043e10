"""``culmen tune command`` with several objectives."""

import json

import pytest
from harness import culmen

pytestmark = pytest.mark.no_numbers

PROGRAM = """#!/bin/sh
echo "seconds = $((12 / $1 + 1))"
echo "size = $(($1 * $1 + 3))"
echo "rate = $2"
"""
FILE = """
[space]
n = { type = "integer", lower = 1, upper = 4, initial = 1 }
m = { type = "integer", lower = 1, upper = 3, initial = 2 }
[evaluator]
command = ["./app.sh", "{n}", "{m}"]
[objectives]
seconds = "minimize"
size = "minimize"
rate = "maximize"
[stop]
evaluations = 20
[tune]
rounds = 3
"""


@pytest.fixture
def tune(tmp_path):
    """tune(changes…): the command, with pairs of old and new text of its file."""
    (tmp_path / "app.sh").write_text(PROGRAM)
    (tmp_path / "app.sh").chmod(0o755)

    def run(*changes, words=()):
        text = FILE
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "app.toml").write_text(text)
        return culmen("tune", "command", "app.toml", *words, cwd=tmp_path)

    return run


def test_the_product_of_the_objectives_decides_and_each_is_said(tune, tmp_path):
    done = tune()
    assert done.returncode == 0, done.stderr
    assert "The combined value is seconds × size / rate." in done.stdout
    result = json.loads((tmp_path / "tune-app/result.json").read_text())
    assert result["best_found"] == {"n": 2, "m": 3}, "7 · 7 / 3 is the smallest value"
    assert result["use"] == "best_found"
    assert [(each["name"], each["maximize"], each["weight"]) for each in result["objectives"]] == [
        ("seconds", False, 1),
        ("size", False, 1),
        ("rate", True, 1),
    ]
    assert [(each["comparison"]["before"], each["comparison"]["after"]) for each in result["objectives"]] == [
        (13, 7),
        (4, 7),
        (2, 3),
    ]
    for sentence in ("46.2 % less seconds", "75.0 % more size", "50.0 % more rate"):
        assert f"Clear change: {sentence}, interval of 98.3 %: " in done.stdout


def test_weights_are_exponents(tune, tmp_path):
    done = tune(("rounds = 3", "rounds = 3\nweights = { size = 0.25 }"))
    assert done.returncode == 0, done.stderr
    assert "The combined value is seconds × size^0.25 / rate." in done.stdout
    result = json.loads((tmp_path / "tune-app/result.json").read_text())
    assert result["best_found"] == {"n": 4, "m": 3}, "4 · 19^0.25 / 3 is the smallest value"


def test_measured_figures_are_objectives_too(tune):
    done = tune(("seconds =", "wall_time_s ="), ("evaluations = 20", "evaluations = 3"))
    assert done.returncode == 0, done.stderr
    assert "The combined value is wall_time_s × size / rate." in done.stdout


def test_a_plan_says_what_is_combined(tune):
    done = tune(words=["--dry-run"])
    assert "Objective: the smallest combined value, seconds × size / rate\n" in done.stdout, done.stderr


WRONG = {
    "weights = { speed = 2 }": "[tune] weights: speed is not in [objectives], which has seconds, size, rate",
    "weights = { size = 0 }": "[tune] weights.size must be above 0, got 0",
    "use_hours = 5": "[tune] use_hours is for one objective, but there are several; remove use_hours",
}


@pytest.mark.parametrize("line", WRONG)
def test_wrong_words_are_one_sentence(tune, line):
    done = tune(("rounds = 3", f"rounds = 3\n{line}"))
    assert done.returncode == 2, done.stdout
    assert WRONG[line] in done.stderr and done.stderr.count("\n") == 1


def test_weights_need_several_objectives(tune):
    done = tune(("size =", "#"), ("rate =", "#"), ("rounds = 3", "weights = { seconds = 2 }"))
    assert done.returncode == 2, done.stdout
    assert "[tune] weights are for several objectives, but there is only one; remove weights" in done.stderr


def test_a_value_that_is_not_above_0_is_a_failed_run(tune):
    done = tune(("lower = 1, upper = 3, initial = 2", "lower = 0, upper = 3, initial = 0"))
    assert done.returncode == 2, done.stdout
    assert "the program failed with the present settings: evaluation 0 not finite" in done.stderr
