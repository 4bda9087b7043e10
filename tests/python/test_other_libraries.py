"""Optimizers of other libraries under culmen's interface: they suggest what the library alone suggests."""

import math
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cma
import nevergrad as ng
import numpy as np
import optuna
import pygmo as pg
import pytest
from culmen.adapters.optuna import OptunaAdapter
from optuna.trial import TrialState

import culmen
from culmen import adapters

pytestmark = [pytest.mark.filterwarnings("ignore")]  # the libraries' own

MIXED = {
    "x": (-5, 5),
    "t": culmen.real(1e-3, 10, "log"),
    "n": culmen.integer(1, 9),
    "c": culmen.categorical(["a", "b", "c"]),
    "b": culmen.boolean(),
    "o": culmen.ordinal([16, 32, 64]),
}
BOX = {"x": (-5, 5), "y": (-1, 3), "t": culmen.real(1e-3, 10, "log")}
OF_BOX = culmen.Space(BOX)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


def mixed(p: dict[str, Any]) -> float:
    return p["x"] ** 2 + math.log(p["t"]) ** 2 + p["n"] + (p["c"] == "a") + p["b"] + p["o"] / 64


def box(p: dict[str, Any]) -> float:
    return p["x"] ** 2 + (p["y"] - 1) ** 2 + math.log(p["t"]) ** 2


def suggested(optimizer: culmen.Optimizer, f: Callable[[dict[str, Any]], Any], n: int, at_once: int = 1) -> list[dict]:
    """The candidates that it proposes. Evaluation 3 of 7 fails."""
    found: list[dict] = []
    while len(found) < n:
        for candidate in optimizer.ask(at_once):
            found.append(candidate.params)
            optimizer.tell(candidate, None if candidate.id % 7 == 3 else f(candidate.params))
    return found[:n]


def of_optuna(study: optuna.Study, suggest: Callable[[optuna.Trial], dict], f: Callable, n: int) -> list[dict]:
    found = []
    for k in range(n):
        trial = study.ask()
        found.append(suggest(trial))
        if k % 7 == 3:
            study.tell(trial, state=TrialState.FAIL)
        else:
            study.tell(trial, f(found[-1]))
    return found


def suggest_mixed(t: optuna.Trial) -> dict:
    return {
        "x": t.suggest_float("x", -5, 5),
        "t": t.suggest_float("t", 1e-3, 10, log=True),
        "n": t.suggest_int("n", 1, 9),
        "c": t.suggest_categorical("c", ["a", "b", "c"]),
        "b": t.suggest_categorical("b", [False, True]),
        "o": [16, 32, 64][t.suggest_int("o", 0, 2)],
    }


@pytest.mark.parametrize("name", ["TPESampler", "CmaEsSampler", "RandomSampler", "QMCSampler", "NSGAIISampler"])
def test_a_sampler_of_optuna_suggests_what_it_suggests_alone(name: str) -> None:
    alone = optuna.create_study(sampler=getattr(optuna.samplers, name)(seed=3))
    ours = culmen.Optimizer(MIXED, f"optuna:{name}", seed=3)
    assert suggested(ours, mixed, 30) == of_optuna(alone, suggest_mixed, mixed, 30)


def test_options_go_to_the_constructor() -> None:
    options = {"multivariate": True, "n_startup_trials": 5}
    alone = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1, **options))
    ours = culmen.Optimizer(MIXED, "optuna:TPESampler", options=options)
    assert suggested(ours, mixed, 20) == of_optuna(alone, suggest_mixed, mixed, 20)


def test_optuna_suggests_conditional_parameters_where_they_are_active() -> None:
    space = {
        "momentum": culmen.real(0, 1, active_when="method == 'sgd'"),
        "method": culmen.categorical(["sgd", "adam"]),
        "beta": culmen.real(0.1, 1, active_when="method == 'adam'"),
    }

    def suggest(t: optuna.Trial) -> dict:
        method = t.suggest_categorical("method", ["sgd", "adam"])
        if method == "sgd":
            return {"momentum": t.suggest_float("momentum", 0, 1), "method": method}
        return {"method": method, "beta": t.suggest_float("beta", 0.1, 1)}

    def f(p: dict) -> float:
        return p.get("momentum", 0.5) + p.get("beta", 0.0)

    alone = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=2))
    assert suggested(culmen.Optimizer(space, "optuna:TPESampler", seed=2), f, 30) == of_optuna(alone, suggest, f, 30)


@pytest.mark.parametrize("name", ["optuna:TPESampler", "nevergrad:DE"])
def test_what_is_inactive_is_at_rest(name: str) -> None:
    space = culmen.Space({"x": (0, 1), "y": culmen.real(0, 1, initial=0.25, active_when="x < 0.5")})
    core = culmen.Optimizer(space, name, seed=3)._core
    for _ in range(20):
        [(number, (x, y))] = core.ask(1)
        assert x < 0.5 or y == 0.25
        core.tell(number, x)


@pytest.mark.parametrize("name", ["NSGAIISampler", "NSGAIIISampler"])
def test_optuna_takes_several_objectives(name: str) -> None:
    def f(p: dict) -> list[float]:
        return [p["x"] ** 2 + p["n"], (p["x"] - 2) ** 2]

    options = {"population_size": 8}
    sampler = getattr(optuna.samplers, name)(seed=3, **options)
    alone = optuna.create_study(sampler=sampler, directions=["minimize"] * 2)
    ours = culmen.Optimizer(MIXED, f"optuna:{name}", seed=3, options=options, objectives=2)
    assert suggested(ours, f, 40) == of_optuna(alone, suggest_mixed, f, 40)


def test_with_a_batch_of_three_all_but_two_before_a_candidate_are_told_however_they_are_asked_for() -> None:
    one = suggested(culmen.Optimizer(MIXED, "optuna:TPESampler", options={"batch": 3}), mixed, 20, 1)
    many = suggested(culmen.Optimizer(MIXED, "optuna:TPESampler", options={"batch": 3}), mixed, 20, 9)
    assert one == many


@pytest.mark.parametrize("options", [{}, {"popsize": 9, "sigma0": 0.2}])
def test_pycma_suggests_what_it_suggests_alone_and_leaves_the_global_generator_alone(options: dict) -> None:
    np.random.seed(11)
    before = np.random.get_state()[1].tolist()
    ours = suggested(culmen.Optimizer(BOX, "pycma", seed=5, options=options), box, 60, 50)
    assert np.random.get_state()[1].tolist() == before
    rest = {key: value for key, value in options.items() if key != "sigma0"}
    quiet = {"bounds": [0, 1], "verbose": -9, "verb_log": 0, "seed": 5}
    alone = cma.CMAEvolutionStrategy([0.5] * 3, options.get("sigma0", 0.3), {**quiet, **rest})
    found: list[dict] = []
    worst = -math.inf
    while len(found) < 60:
        points, values = alone.ask(), []
        for point in points:
            params = OF_BOX.core.named(OF_BOX.core.from_unit([float(u) for u in point]))
            values.append(worst if len(found) % 7 == 3 else box(params))
            worst = max(worst, values[-1])
            found.append(params)
        alone.tell(points, values)
    assert ours == found[:60]


@pytest.mark.parametrize(("name", "n"), [("NGOpt", 12), ("DE", 60), ("OnePlusOne", 60)])
def test_nevergrad_suggests_what_it_suggests_alone(name: str, n: int) -> None:
    parameters = ng.p.Dict(
        x=ng.p.Scalar(lower=-5, upper=5), y=ng.p.Scalar(lower=-1, upper=3), t=ng.p.Log(lower=1e-3, upper=10)
    )
    parameters.random_state = np.random.RandomState(6)
    alone = ng.optimizers.registry[name](parameters, budget=100, num_workers=1)
    found = []
    for k in range(n):
        candidate = alone.ask()
        found.append(dict(candidate.value))
        alone.tell(candidate, math.inf if k % 7 == 3 else box(found[-1]))
    assert suggested(culmen.Optimizer(BOX, f"nevergrad:{name}", seed=6, evaluations=100), box, n) == found


def test_nevergrad_knows_all_kinds_of_parameters_and_families_with_options() -> None:
    found = suggested(culmen.Optimizer(MIXED, "nevergrad:DiscreteOnePlusOne", seed=2), mixed, 40)
    assert {p["c"] for p in found} == {"a", "b", "c"}
    family = culmen.Optimizer(BOX, "nevergrad:DifferentialEvolution", options={"popsize": 8, "batch": 8})
    assert len(suggested(family, box, 40, 8)) == 40


class Recorded:
    """A problem of pagmo that notes its points."""

    def __init__(self, found: list[dict]) -> None:
        self.found, self.worst = found, -math.inf

    def __deepcopy__(self, memo: object) -> "Recorded":
        return self

    def fitness(self, u: Any) -> list[float]:
        params = OF_BOX.core.named(OF_BOX.core.from_unit([float(one) for one in u]))
        value = self.worst if len(self.found) % 7 == 3 else box(params)
        self.worst = max(self.worst, value)
        self.found.append(params)
        return [value]

    def get_bounds(self) -> tuple[list[float], list[float]]:
        return [0.0] * 3, [1.0] * 3


@pytest.mark.parametrize("name", ["de1220", "sade", "pso", "cmaes", "bee_colony"])
def test_an_algorithm_of_pagmo_proposes_what_it_evaluates_alone(name: str) -> None:
    found: list[dict] = []
    problem = pg.problem(Recorded(found))
    pg.algorithm(getattr(pg, name)(gen=8, seed=7)).evolve(pg.population(problem, 10, seed=7))
    options = {"gen": 8, "population": 10}
    assert suggested(culmen.Optimizer(BOX, f"pygmo:{name}", seed=7, options=options), box, 80, 10) == found[:80]


def test_an_algorithm_of_pagmo_that_takes_batches_hands_out_a_generation() -> None:
    optimizer = culmen.Optimizer(BOX, "pagmo:pso_gen", options={"population": 12}, evaluations=60)
    sizes = []
    for _ in range(4):
        some = optimizer.ask(100)
        sizes.append(len(some))
        for candidate in some:
            optimizer.tell(candidate, box(candidate.params))
    assert sizes == [12] * 4
    front = culmen.Optimizer(BOX, "pygmo:nsga2", options={"population": 12}, objectives=2)
    for candidate in front.ask(12):
        front.tell(candidate, [candidate.params["x"] ** 2, candidate.params["y"]])
    assert len(front.ask(100)) == 12


def minimize(name: str, budget: int, **further: Any) -> culmen.Result:
    """In threads: processes would import what this module imports."""
    with ThreadPoolExecutor(2) as threads:
        return culmen.minimize(box, BOX, optimizer=name, budget=budget, executor=threads, workers=2, **further)


def evaluated(store: Any) -> list[list[float]]:
    return culmen.read(store).x.tolist()


@pytest.mark.parametrize(
    "name", ["optuna:TPESampler", "pycma", "nevergrad:DE", "pygmo:de1220", "optuna:TPESampler,pycma"]
)
def test_a_study_goes_on_with_what_the_library_would_have_suggested(name: str, tmp_path: Any) -> None:
    alone = suggested_in_order(culmen.Optimizer(BOX, name, seed=2, evaluations=12), 24)
    store = tmp_path / "study.db"
    for budget in (12, 24):
        minimize(name, budget, seed=2, store=store)
    assert evaluated(store) == alone


def suggested_in_order(optimizer: culmen.Optimizer, n: int) -> list[list[float]]:
    found: list[list[float]] = []
    while len(found) < n:
        for candidate in optimizer.ask(n - len(found)):
            found.append([float(candidate.params[key]) for key in BOX])
            optimizer.tell(candidate, box(candidate.params))
    return found


@pytest.mark.parametrize("name", ["optuna:TPESampler", "nevergrad:DE"])
def test_asynchronous_where_the_library_can(name: str, tmp_path: Any) -> None:
    (tmp_path / "study.toml").write_text(
        f'name = "s"\n[space]\nx = {{ lower = 0, upper = 1 }}\ny = {{ lower = 0, upper = 1 }}\n'
        f'[evaluator]\ncommand = ["echo", "{{x}}"]\n[optimizer]\nname = "{name}"\ngenerational = false\n'
        f"[stop]\nevaluations = 12\n[run]\nworkers = 3\n"
    )
    study = culmen.Study.from_file(tmp_path / "study.toml", store=tmp_path / "s.db")
    assert study.run(progress=False).evaluations == 12
    assert culmen.Study.from_store(tmp_path / "s.db", evaluations=20).run(progress=False).evaluations == 20


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("optuna:TPE", {}, "optuna has no sampler 'TPE'; known are for example"),
        (
            "optuna:TPESampler",
            {"multivariat": True},
            "TPESampler has no option 'multivariat'; did you mean multivariate",
        ),
        ("optuna:TPESampler", {"batch": 0}, "option 'batch' must be a whole number, at least 1, got 0"),
        ("pycma:x", {}, "pycma has no strategy 'x'; known are for example CMAEvolutionStrategy"),
        ("pycma", {"popsiz": 5}, "pycma has no option 'popsiz'; did you mean popsize"),
        ("nevergrad:NGOp", {}, "the registry of nevergrad has no optimizer 'NGOp'; did you mean NGOpt"),
        ("pygmo:de122", {}, "pygmo has no algorithm 'de122'; did you mean de1220"),
    ],
)
def test_mistakes_are_one_sentence(name: str, options: dict, sentence: str) -> None:
    with pytest.raises(culmen.InputError, match=sentence) as e:
        culmen.Optimizer(BOX, name, options=options)
    assert "\n" not in str(e.value)


@pytest.mark.parametrize("name", ["pycma", "pygmo:de1220"])
def test_what_a_library_cannot_do_is_one_sentence(name: str) -> None:
    with pytest.raises(culmen.InputError, match="works only in generations; remove generational = false"):
        culmen.Optimizer(BOX, name, generational=False)
    with pytest.raises(culmen.InputError, match="needs parameters with an order; 'c' is categorical"):
        culmen.Optimizer(MIXED, name)


@pytest.mark.parametrize(("name", "line"), [("optuna:TPESampler", "optuna"), ("pycma", "cma")])
def test_a_library_that_is_missing_is_named_with_the_line_that_installs_it(
    name: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, line, None)
    monkeypatch.delitem(sys.modules, f"culmen.adapters.{name.partition(':')[0]}", raising=False)
    with pytest.raises(culmen.InputError, match=f"'{name}' needs {line}, .* pip install {line}"):
        culmen.Optimizer(BOX, name)


def test_what_a_library_raises_ends_the_study_with_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: OptunaAdapter) -> list:
        raise ValueError("no such\nthing")

    monkeypatch.setattr(OptunaAdapter, "ask", broken)
    sentence = r"^optuna:TPESampler \(optuna [0-9.]+\): ValueError: no such$"
    with pytest.raises(culmen.CulmenError, match=sentence):
        minimize("optuna:TPESampler", 5)
    with pytest.raises(culmen.CulmenError, match=sentence):
        culmen.Optimizer(BOX, "optuna:TPESampler").ask()


def test_what_pagmo_refuses_is_one_sentence() -> None:
    with pytest.raises(
        culmen.CulmenError, match=r"^pygmo:nsga2 \(pygmo [0-9.]+\): ValueError: .*multiobjective.* in the study is 1"
    ):
        suggested(culmen.Optimizer(BOX, "pygmo:nsga2"), box, 100, 100)


def test_ctrl_c_while_a_library_thinks_ends_the_study_cleanly(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    original, asked = OptunaAdapter.ask, []

    def interrupting(self: OptunaAdapter) -> list[list[float]]:
        asked.append(1)
        if len(asked) == 6:
            os.kill(os.getpid(), signal.SIGINT)
        return original(self)

    monkeypatch.setattr(OptunaAdapter, "ask", interrupting)
    store = tmp_path / "s.db"
    result = minimize("optuna:TPESampler", 400, store=store)
    assert result.reason == "interrupted"
    assert 5 <= result.evaluations < 400
    assert minimize("optuna:TPESampler", result.evaluations + 3, store=store).evaluations == result.evaluations + 3


def test_another_version_of_the_library_is_named_where_it_suggests_something_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    store = tmp_path / "s.db"
    minimize("optuna:TPESampler", 5, store=store)
    monkeypatch.setattr(OptunaAdapter, "library", "optuna 99.0")
    monkeypatch.setattr(OptunaAdapter, "ask", lambda self: [[0.0, 0.0, 1.0]])
    with pytest.raises(culmen.CulmenError, match=rf"optuna {optuna.__version__}.*optuna 99\.0"):
        minimize("optuna:TPESampler", 9, store=store)


@pytest.mark.parametrize("name", ["optuna:TPESampler", "pycma", "nevergrad:DE"])
def test_a_library_learns_where_constraints_are(name: str) -> None:
    optimizer = culmen.Optimizer(culmen.Space(BOX, ["x + y <= 0.5"]), name, seed=3, evaluations=40)
    assert all(p["x"] + p["y"] <= 0.5 for p in suggested(optimizer, box, 40, 10))


def test_what_is_installed_is_listed() -> None:
    assert adapters.installed()["pycma"] == cma.__version__
