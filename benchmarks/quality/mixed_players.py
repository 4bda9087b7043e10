"""The optimizers for mixed_problems: those of culmen, and Optuna and Nevergrad as their users call them."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from culmen import _core

from .mixed_problems import MixedId, MixedProblem, Values, Variable
from .players import BudgetSpent, read_options
from .score import Curve

Evaluate = Callable[[Values], float]
Reached = dict[str, Any]  # times: when each target was reached; final: the gap at the end


def space_of(variables: tuple[Variable, ...]) -> Any:
    return _core.Space([_parameter(v) for v in variables])


def _parameter(v: Variable) -> Any:
    scale = "log" if v.log else "linear"
    if v.kind == "choice":
        p = _core.boolean(v.name) if set(v.choices) == {"no", "yes"} else _core.categorical(v.name, v.choices)
    else:
        p = (_core.real if v.kind == "real" else _core.integer)(v.name, v.lower, v.upper, scale)
    if v.when is not None:
        other, words = v.when
        flag = set(words) <= {"no", "yes"}
        p.active_when = " or ".join(
            f"{other} == {str(w == 'yes').lower()}" if flag else f"{other} == {_quoted(w)}" for w in words
        )
    return p


def _quoted(word: Any) -> str:
    return f"'{word}'" if isinstance(word, str) else str(word)


def of_culmen(player: str, f: Evaluate, problem: MixedProblem, budget: int, seed: int) -> None:
    name, options = read_options(player)
    generational = bool(options.pop("generational", True))
    space = space_of(problem.variables)
    optimizer = _core.Optimizer(space, name, seed, options, evaluations=budget, generational=generational)
    while asked := optimizer.ask(1):
        (evaluation, x) = asked[0]
        values = {k: v if not isinstance(v, bool) else ("yes" if v else "no") for k, v in space.named(x).items()}
        optimizer.tell(evaluation, f(values))


def of_optuna(options: dict[str, Any], f: Evaluate, problem: MixedProblem, budget: int, seed: int) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def suggested(trial: Any, v: Variable) -> Any:
        if v.kind == "choice":
            return trial.suggest_categorical(v.name, v.choices)
        return (trial.suggest_float if v.kind == "real" else trial.suggest_int)(v.name, v.lower, v.upper, log=v.log)

    def objective(trial: Any) -> float:
        values: dict[str, Any] = {}
        for v in problem.variables:
            if v.active(values):
                values[v.name] = suggested(trial, v)
        return f(values)

    sampler = optuna.samplers.TPESampler(seed=seed, **options)
    optuna.create_study(sampler=sampler).optimize(objective, n_trials=budget)


def of_nevergrad(name: str, f: Evaluate, problem: MixedProblem, budget: int, seed: int) -> None:
    """Nevergrad has no conditions: inactive parameters have no effect. All numbers of a kind are one array."""
    import nevergrad as ng
    import numpy as np

    reals = [v for v in problem.variables if v.kind == "real"]
    whole = [v for v in problem.variables if v.kind == "integer"]
    even = [v for v in whole if not v.log]
    parts: dict[str, Any] = {v.name: ng.p.Choice(list(v.choices)) for v in problem.variables if v.kind == "choice"}
    parts |= {v.name: ng.p.Log(lower=v.lower, upper=v.upper).set_integer_casting() for v in whole if v.log}
    if reals:
        parts["reals"] = ng.p.Array(shape=(len(reals),), lower=0, upper=1)
    if even:
        low, high = np.array([v.lower for v in even]), np.array([v.upper for v in even])
        parts["whole"] = ng.p.Array(init=np.floor((low + high) / 2), lower=low, upper=high).set_integer_casting()
    parameters = ng.p.Dict(**parts)
    parameters.random_state.seed(seed)
    optimizer = ng.optimizers.registry[name](parameters, budget=budget)
    for _ in range(budget):
        candidate = optimizer.ask()
        asked = dict(candidate.value)
        asked |= {v.name: v.at(u) for v, u in zip(reals, asked.pop("reals", ()), strict=True)}
        asked |= {v.name: int(n) for v, n in zip(even, asked.pop("whole", ()), strict=True)}
        values: dict[str, Any] = {}
        for v in problem.variables:
            if v.active(values):
                values[v.name] = asked[v.name]
        optimizer.tell(candidate, f(values))


Peer = Callable[[Evaluate, MixedProblem, int, int], None]
PEERS: dict[str, tuple[Peer, tuple[str, ...]]] = {
    "tpe": (partial(of_optuna, {}), ("optuna",)),
    "tpe-group": (partial(of_optuna, {"multivariate": True, "group": True}), ("optuna",)),
    **{
        f"nevergrad-{name}": (partial(of_nevergrad, name), ("nevergrad", "cma", "numpy"))
        for name in ("PortfolioDiscreteOnePlusOne", "TwoPointsDE", "CMA")
    },
}


def play(player: str, which: MixedId, seed: int, budget: int) -> Reached:
    """player: name:option=value,… for culmen's, or peer:name."""
    warnings.simplefilter("ignore")
    problem, curve = MixedProblem(which, seed), Curve()
    used, best = 0, float("inf")

    def f(values: Values) -> float:
        nonlocal used, best
        if used >= budget or curve.solved:
            raise BudgetSpent
        used += 1
        value = problem(values)
        best = min(best, problem.true_gap)
        curve.add(used, problem.true_gap)
        return value

    run = PEERS[player[5:]][0] if player.startswith("peer:") else partial(of_culmen, player)
    with contextlib.suppress(BudgetSpent):
        run(f, problem, budget, seed)
    return {"times": curve.times, "final": float(f"{best:.4g}")}
