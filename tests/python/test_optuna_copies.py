"""Several CulmenSamplers: their seeds, their copies, and processes that share one storage."""

import copy
import math
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import optuna
import pytest
from culmen.optuna_sampler import CulmenSampler
from optuna.distributions import FloatDistribution
from optuna.study import Study
from optuna.trial import Trial

BOX = {"x": FloatDistribution(-5, 5), "t": FloatDistribution(1e-3, 10, log=True)}
COPIES = {"pickle": lambda thing: pickle.loads(pickle.dumps(thing)), "deepcopy": copy.deepcopy}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


@pytest.fixture(params=COPIES)
def copied(request: pytest.FixtureRequest) -> Callable[[Study], Study]:
    return COPIES[request.param]


def box(trial: Trial) -> float:
    return trial.suggest_float("x", -5, 5) ** 2 + math.log(trial.suggest_float("t", 1e-3, 10, log=True)) ** 2


def after(n: int, sampler: CulmenSampler) -> Study:
    study = optuna.create_study(sampler=sampler)
    study.optimize(box, n_trials=n)
    return study


def evaluated(study: Study) -> list[tuple[float, ...]]:
    return [tuple(trial.params.values()) for trial in study.trials]


@pytest.mark.parametrize("given", [{"search_space": BOX}, {}])
def test_samplers_without_a_seed_suggest_different_candidates(given: dict) -> None:
    a, b = (evaluated(after(12, CulmenSampler("cmaes", **given))) for _ in "ab")
    assert not set(a) & set(b)


def test_samplers_of_one_seed_suggest_the_same_candidates() -> None:
    a, b = (evaluated(after(12, CulmenSampler("cmaes", seed=3))) for _ in "ab")
    assert a == b


def test_reseed_rng_changes_the_candidates() -> None:
    sampler = CulmenSampler("cmaes", seed=3, search_space=BOX)
    sampler.reseed_rng()
    a, b = evaluated(after(12, sampler)), evaluated(after(12, CulmenSampler("cmaes", seed=3, search_space=BOX)))
    assert not set(a) & set(b)


@pytest.mark.parametrize("optimizer", [None, "cmaes", "bayes"])
def test_a_copy_continues_as_the_original(optimizer: str | None, copied: Callable[[Study], Study]) -> None:
    study = after(14, CulmenSampler(optimizer, seed=4, generational=True))
    running = study.ask()
    for parameter, distribution in BOX.items():
        running._suggest(parameter, distribution)
    other = copied(study)
    for each in (study, other):
        each.tell(running.number, 0.5)
        each.optimize(box, n_trials=20)
    assert evaluated(other) == evaluated(study)


def test_a_sampler_without_its_study_can_be_copied(copied: Callable) -> None:
    sampler = CulmenSampler("cmaes", seed=4, search_space=BOX)
    assert evaluated(after(20, copied(sampler))) == evaluated(after(20, sampler))


def test_a_copy_with_a_new_seed_leaves_the_original_s_way(copied: Callable[[Study], Study]) -> None:
    study = after(14, CulmenSampler("cmaes", seed=4))
    other = copied(study)
    other.sampler.reseed_rng()
    for each in (study, other):
        each.optimize(box, n_trials=20)
    assert not set(evaluated(study)[14:]) & set(evaluated(other)[14:])


def test_a_search_that_runs_continues_after_reseed_rng() -> None:
    """Optuna calls it before each trial of parallel threads."""
    reseeded, other = (optuna.create_study(sampler=CulmenSampler("cmaes", seed=4, search_space=BOX)) for _ in "ab")
    reseeded.optimize(box, n_trials=3)
    for _ in range(17):
        reseeded.sampler.reseed_rng()
        reseeded.optimize(box, n_trials=1)
    other.optimize(box, n_trials=20)
    assert evaluated(reseeded) == evaluated(other)


def test_parallel_searches_do_not_all_begin_at_the_best_trial() -> None:
    """Both learn from the same finished trial, and `auto` begins with a descent."""
    study = after(1, CulmenSampler())
    first = study.ask()  # for the samplers that follow, it runs in another process
    found: list[set] = []
    for _ in range(2):
        study.sampler = CulmenSampler()
        known = set(evaluated(study))
        study.optimize(box, n_trials=12)
        found.append(set(evaluated(study)) - known)
    study.tell(first, 1.0)
    assert all(len(new) == 12 for new in found)


@pytest.mark.parametrize("optimizer", [None, "de", "bayes"])
def test_a_search_that_begins_elsewhere_evaluates_no_candidate_twice(optimizer: str | None) -> None:
    study = after(8, CulmenSampler())
    study.ask()  # for the sampler that follows, it runs in another process
    study.sampler = CulmenSampler(optimizer)
    known = evaluated(study)
    study.optimize(box, n_trials=20)
    new = evaluated(study)[len(known) :]
    assert not set(new) & set(known)
    assert optimizer == "de" or len(set(new)) == 20, "differential evolution rarely draws a candidate of its own again"


def test_no_two_searches_begin_at_the_same_trial() -> None:
    """Each begins while no trial of the other runs."""
    study = optuna.create_study()
    study.add_trial(optuna.create_trial(params={"x": 0.0, "t": 1.0}, distributions=BOX, value=0.0))
    found: list[set] = []
    for _ in range(2):
        study.sampler = CulmenSampler()
        before = len(study.trials)
        study.optimize(lambda trial: 1 + box(trial), n_trials=8)
        found.append(set(evaluated(study)[before:]))
    assert not found[0] & found[1]


def test_processes_on_one_storage_evaluate_different_candidates(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/study.db"
    optuna.create_study(storage=storage, study_name="shared")
    script = (
        "import sys, optuna; from culmen.optuna_sampler import CulmenSampler\n"
        "optuna.logging.set_verbosity(optuna.logging.ERROR)\n"
        "study = optuna.load_study(storage=sys.argv[1], study_name='shared', sampler=CulmenSampler())\n"
        "study.optimize(lambda t: sum(abs(t.suggest_float(x, -4, 5) - 0.3) ** 1.5 for x in 'xyz'), n_trials=15)\n"
    )
    started = [subprocess.Popen([sys.executable, "-c", script, storage]) for _ in range(3)]
    assert [process.wait(600) for process in started] == [0, 0, 0]
    found = evaluated(optuna.load_study(storage=storage, study_name="shared"))
    assert len(found) == 45
    assert len(set(found)) == 45
