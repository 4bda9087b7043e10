"""CulmenSampler: culmen's optimizers in a study of Optuna."""

import math
from collections.abc import Iterator

import optuna
import pytest
from culmen.optuna_sampler import CulmenSampler
from optuna.distributions import FloatDistribution
from optuna.trial import Trial, TrialState

import culmen
from culmen import _core

BOX = {"x": FloatDistribution(-5, 5), "t": FloatDistribution(1e-3, 10, log=True)}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


def box(trial: Trial) -> float:
    return trial.suggest_float("x", -5, 5) ** 2 + math.log(trial.suggest_float("t", 1e-3, 10, log=True)) ** 2


def proposed(optimizer: _core.Optimizer, n: int, skip: int = 0) -> list[list[float]]:
    """Of the box, its value told, some of them as failed."""
    found: list[list[float]] = []
    while len(found) < n:
        [(number, (x, t))] = optimizer.ask(1)
        found.append([x, t])
        optimizer.tell(number, None if (len(found) + skip) % 5 == 3 else x**2 + math.log(t) ** 2)
    return found


def unlucky(trial: Trial) -> float:
    value = box(trial)
    if trial.number % 5 == 2:
        raise optuna.TrialPruned if trial.number % 2 else ValueError
    return value


@pytest.mark.parametrize("name", ["cmaes", "evolution", "sobol"])
def test_it_suggests_what_the_optimizer_proposes(name: str) -> None:
    study = optuna.create_study(sampler=CulmenSampler(name, seed=4, search_space=BOX, generational=True))
    study.optimize(unlucky, n_trials=40, catch=ValueError)
    space = culmen.Space({"x": (-5, 5), "t": culmen.real(1e-3, 10, "log")})
    assert [[t.params["x"], t.params["t"]] for t in study.trials] == proposed(_core.Optimizer(space.core, name, 4), 40)
    assert {t.state for t in study.trials} == {TrialState.COMPLETE, TrialState.FAIL, TrialState.PRUNED}


def test_the_space_is_that_of_the_finished_trials_which_it_learns_from() -> None:
    study = optuna.create_study(sampler=CulmenSampler("cmaes", seed=4, generational=True))
    study.optimize(box, n_trials=1)
    x, t = study.trials[0].params["x"], study.trials[0].params["t"]
    study.optimize(unlucky, n_trials=20, catch=ValueError)
    space = culmen.Space({"t": culmen.real(1e-3, 10, "log"), "x": (-5, 5)})
    ours = _core.Optimizer(space.core, "cmaes", 4, {}, [[t, x]])
    [(number, _)] = ours.ask(1)
    ours.tell(number, box(optuna.trial.FixedTrial({"x": x, "t": t})))
    expected = []
    for trial in study.trials[1:]:
        [(number, vector)] = ours.ask(1)
        expected.append(vector)
        ours.tell(number, trial.value if trial.state == TrialState.COMPLETE else None)
    assert [[trial.params["t"], trial.params["x"]] for trial in study.trials[1:]] == expected


def test_it_finds_the_minimum_and_the_maximum_of_a_sphere() -> None:
    study = optuna.create_study(sampler=CulmenSampler("cmaes"))
    study.optimize(box, n_trials=300)
    assert study.best_value < 1e-3
    study = optuna.create_study(sampler=CulmenSampler("cmaes"), direction="maximize")
    study.optimize(lambda trial: -box(trial), n_trials=300)
    assert study.best_value > -1e-3


def test_every_distribution_of_optuna_is_suggested_from() -> None:
    def mixed(trial: Trial) -> float:
        a = trial.suggest_float("a", 0, 1, step=0.25)
        b = trial.suggest_int("b", 3, 12, step=3)
        c = trial.suggest_categorical("c", [None, 3, "x", 0.5])
        d = trial.suggest_int("d", 1, 1000, log=True)
        e = trial.suggest_categorical("e", [False, True])
        trial.suggest_float("single", 2, 2)
        assert a in (0, 0.25, 0.5, 0.75, 1) and b in (3, 6, 9, 12) and type(d) is int
        return a + b + (c != "x") + abs(d - 30) / 100 + e

    study = optuna.create_study(sampler=CulmenSampler(seed=2))
    study.optimize(mixed, n_trials=200)
    assert study.best_params["c"] == "x"
    assert study.best_value < 4


def test_a_conditional_space_begins_anew_when_it_changes() -> None:
    def conditional(trial: Trial) -> float:
        x = trial.suggest_float("x", -1, 1)
        if trial.number < 10:
            return x**2 + trial.suggest_float("early", 0, 1)
        if trial.suggest_categorical("kind", ["a", "b"]) == "a":
            return x**2 + trial.suggest_float("of_a", 0, 1)
        return x**2 + 1

    study = optuna.create_study(sampler=CulmenSampler("cmaes"))
    study.optimize(conditional, n_trials=120)
    assert len(study.get_trials(states=(TrialState.COMPLETE,))) == 120
    assert study.best_value < 0.5  # 110 random points miss this once in 10⁹ times


def test_several_objectives() -> None:
    study = optuna.create_study(
        sampler=CulmenSampler("evolution", options={"parents": 10}), directions=["minimize", "maximize"]
    )
    study.optimize(lambda t: ((x := t.suggest_float("x", -2, 4)) ** 2, -((x - 2) ** 2)), n_trials=120)
    inside = [t for t in study.best_trials if -0.1 <= t.params["x"] <= 2.1]
    assert len(inside) >= 10
    assert len(inside) == len(study.best_trials)


def test_several_threads_ask_at_a_time() -> None:
    study = optuna.create_study(sampler=CulmenSampler("cmaes", search_space=BOX))
    study.optimize(box, n_trials=80, n_jobs=4)
    assert len(study.get_trials(states=(TrialState.COMPLETE,))) == 80


def test_an_enqueued_trial_is_not_told_as_what_was_suggested() -> None:
    study = optuna.create_study(sampler=CulmenSampler("cmaes", search_space=BOX))
    study.enqueue_trial({"x": 0.5, "t": 1.0})
    study.optimize(box, n_trials=20)
    assert study.trials[0].params == {"x": 0.5, "t": 1.0}
    assert len({trial.params["x"] for trial in study.trials}) == 20


def test_what_the_optimizer_cannot_do_is_one_sentence() -> None:
    study = optuna.create_study(sampler=CulmenSampler("lm", search_space=BOX))
    with pytest.raises(culmen.InputError, match="optimizer 'lm' needs residuals"):
        study.optimize(box, n_trials=1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"optimizer": "cmaess"},
            r"CulmenSampler: there is no optimizer 'cmaess' \(did you mean 'cmaes'\?\); known are",
        ),
        ({"optimizer": "TPE"}, r"CulmenSampler: there is no optimizer 'TPE' \(here, this method is 'bayes'\)"),
        ({"optimizer": "L-BFGS-B"}, r"CulmenSampler: there is no optimizer 'L-BFGS-B' \(here, this method is 'bfgs'\)"),
        ({"optimizer": 5}, "CulmenSampler: optimizer must be a name, .*, got 5"),
        ({"seed": "a"}, "CulmenSampler: seed must be a whole number from 0 to .*, got 'a'"),
        ({"seed": -1}, "CulmenSampler: seed must be a whole number from 0 to .*, got -1"),
        ({"options": 5}, "CulmenSampler: options must be a dict such as .*, got 5"),
    ],
)
def test_wrong_arguments_of_the_sampler_are_sentences(given, words):
    with pytest.raises(culmen.InputError, match=words):
        CulmenSampler(**given)


def test_a_seed_may_have_more_than_32_bits():
    study = optuna.create_study(sampler=CulmenSampler("random", seed=2**40))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=4)
    assert len(study.trials) == 4
