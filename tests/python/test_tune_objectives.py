"""Several objectives of `culmen tune command`: simpler settings, and the confidence of each objective."""

import pytest
from culmen.bench.verdict import verdict_of
from culmen.tune.command.recipe import read_recipe
from culmen.tune.command.several import Part, judged
from culmen.tune.command.tuner import Tuner

pytestmark = pytest.mark.no_numbers

RECIPE = """
[space]
n = { type = "integer", lower = 1, upper = 9, initial = 8 }
k = { type = "categorical", choices = ["a", "b"], initial = "a" }
[evaluator]
command = ["sh", "-c", "echo size = $(( ($1 - 3) * ($1 - 3) + 5 )); echo steps = $(( $1 + 1 ))", "sh", "{n}", "{k}"]
[objectives]
size = "minimize"
steps = "minimize"
[stop]
evaluations = 25
"""


def test_simpler_settings_are_proposed_with_several_objectives_too(tmp_path):
    (tmp_path / "app.toml").write_text(RECIPE)
    with Tuner(read_recipe(tmp_path / "app.toml"), tmp_path / "app.toml", tmp_path, quiet=True) as tuner:
        best = tuner.search()
        simpler = tuner.simpler({**best, "k": "b"})
    assert simpler is not None
    assert (simpler.dropped, simpler.settings) == (("k",), {**best, "k": "a"})


def test_the_intervals_of_all_objectives_together_hold_with_95_percent():
    rounds = [(1.0, 0.95), (1.1, 0.99), (1.05, 1.0), (1.0, 0.98)]
    alone, one_of_five = verdict_of(rounds, False), judged(Part("size", False, 1.0), rounds, 3, 5).verdict
    assert (alone.confidence, one_of_five.confidence) == (0.95, 0.99)
    assert one_of_five.low < alone.low < alone.gain < alone.high < one_of_five.high
