"""Choices may be of any plain type, and come back as they were given."""

import csv
import json
import subprocess
import sys

import optuna
import pytest
from culmen.optuna_sampler import CulmenSampler
from culmen.report.build import report

import culmen
from culmen import InputError

CHOICES = [None, True, False, 1, 2.0, 0.5, "true", "none", 2**60 + 1]
SPACE = {"m": culmen.categorical(CHOICES), "x": (0, 1)}


def typed(values):
    return {(type(value), value) for value in values}


def cost(p):
    assert (type(p["m"]), p["m"]) in [(type(choice), choice) for choice in CHOICES]
    return [str(choice) for choice in CHOICES].index(str(p["m"])) + p["x"]


def test_a_function_gets_choices_with_their_types(tmp_path):
    store = tmp_path / "s.db"
    arguments = {"optimizer": "random", "workers": 2, "store": store}
    starts = [{"m": choice, "x": 0.5} for choice in CHOICES]
    result = culmen.minimize(cost, SPACE, budget=20, starts=starts, **arguments)
    assert (result.failed, result.best["m"]) == (0, None)
    again = culmen.minimize(cost, SPACE, budget=40, starts=starts, **arguments)
    assert (again.evaluations, again.failed, again.best["m"]) == (40, 0, None)

    found = culmen.read(store)
    assert typed(found.columns["m"][: len(CHOICES)]) == typed(CHOICES)
    assert "None" in report(found)

    def exported(kind):
        command = [sys.executable, "-m", "culmen", "export", str(store), f"--{kind}"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    rows = json.loads(exported("json"))
    assert typed(row["m"] for row in rows[: len(CHOICES)]) == typed(CHOICES)
    words = [row["m"] for row in csv.DictReader(exported("csv").splitlines())]
    assert words[:4] == ["none", "true", "false", "1"]
    subprocess.run(
        [sys.executable, "-m", "culmen", "export", str(store), "-o", str(tmp_path / "s.parquet")], check=True
    )

    status = subprocess.run([sys.executable, "-m", "culmen", "status", str(store)], capture_output=True, text=True)
    assert "None" in status.stdout


def test_an_optimizer_proposes_choices_with_their_types():
    optimizer = culmen.Optimizer(SPACE, "random", starts=[{"m": choice, "x": 0} for choice in CHOICES])
    assert typed(candidate.params["m"] for candidate in optimizer.ask(len(CHOICES))) == typed(CHOICES)


@pytest.mark.parametrize("name", ["optuna:RandomSampler", "optuna:TPESampler", "nevergrad:OnePlusOne"])
def test_optimizers_of_other_libraries_know_all_choices(name):
    result = culmen.minimize(cost, SPACE, budget=30, optimizer=name, workers=1)
    assert result.failed == 0


def test_the_sampler_suggests_all_choices():
    def objective(trial):
        choice = trial.suggest_categorical("m", CHOICES)
        seen.append(choice)
        return cost({"m": choice, "x": trial.suggest_float("x", 0, 1)})

    seen = []
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=CulmenSampler("de", seed=1))
    study.optimize(objective, n_trials=60)
    assert typed(seen) <= typed(CHOICES)


def test_an_executor_sends_choices_back():
    with culmen.Executor(max_workers=1) as executor:
        assert typed(executor.map(lambda choice: choice, CHOICES)) == typed(CHOICES)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ([None, None], "parameter 'm': the choice none is given twice"),
        ([1, 1.0], "parameter 'm': the choice 1 is given twice"),
        ([1, {}], "parameter 'm': each choice must be a string, a number, True, False or None, got {}"),
        ([1, 2**64], "parameter 'm': the choice 18446744073709551616 has too many digits; write it as a string"),
    ],
)
def test_wrong_choices_are_named(choices, said):
    with pytest.raises(InputError) as error:
        culmen.Space({"m": culmen.categorical(choices)})
    assert str(error.value) == said


def test_expressions_know_truths_and_refuse_choices_of_several_types():
    space = culmen.Space({"fast": culmen.categorical([True, False]), "n": culmen.real(0, 1, active_when="fast")})
    assert space.core.activity([0, 0]) == [True, True]
    assert space.core.activity([1, 0]) == [True, False]
    with pytest.raises(InputError, match=r"parameter 'm' has choices of several types \(none and true\)"):
        culmen.Space({"m": culmen.categorical([None, True]), "n": culmen.real(0, 1, active_when="m")})


def test_a_parameter_cannot_be_fixed_at_none():
    with pytest.raises(InputError, match="parameter 'm' cannot be fixed at None; leave it out of the space instead"):
        culmen.Space(SPACE).fixing({"m": None})
    assert culmen.Space(SPACE).fixing({"m": True}).core.named([0.5]) == {"m": True, "x": 0.5}
