"""Samplers of Optuna. A conditional parameter is suggested if it is active, as in a define-by-run objective."""

import inspect
import math
import re
from collections.abc import Sequence
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import Trial, TrialState

from .. import _core
from .adapter import Terms, Worst, batch_of, unknown


def names() -> set[str]:
    return {n for n in vars(optuna.samplers) if n.endswith("Sampler") and not n.startswith("Base")}


def make(name: str, what: str, options: dict[str, Any], terms: Terms) -> "OptunaAdapter":
    if what not in names():
        raise unknown(name, what, "optuna", "sampler", names())
    sampler = getattr(optuna.samplers, what)
    window = batch_of(name, options)
    takes = inspect.signature(sampler).parameters
    for option in options.keys() - takes.keys():
        raise unknown(name, option, what, "option", [*takes, "batch"])
    if "seed" in takes:
        options.setdefault("seed", terms.seed)
    return OptunaAdapter(sampler(**options), window, terms)


def distribution_of(p: _core.Parameter) -> BaseDistribution:
    """An ordinal parameter is given by its choice's index."""
    log = p.scale == "log"
    if p.kind == "real":
        return FloatDistribution(p.lower, p.upper, log=log)
    if p.kind in ("integer", "ordinal"):
        return IntDistribution(int(p.lower), int(p.upper), log=log)
    return CategoricalDistribution([False, True] if p.kind == "boolean" else p.choices)


class OptunaAdapter:
    library = f"optuna {optuna.__version__}"

    def __init__(self, sampler: optuna.samplers.BaseSampler, window: int, terms: Terms) -> None:
        self.window = window
        self._space = terms.space
        self._distributions = {p.name: distribution_of(p) for p in terms.space.parameters}
        self._order = _in_order_of_need(terms.space.parameters)
        self._open: dict[int, Trial] = {}
        self._asked = 0
        self._ended = False
        self._worst = Worst(terms.objectives, math.nan)
        former = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(max(former, optuna.logging.WARNING))  # it would print the new study
        self._study = optuna.create_study(sampler=sampler, directions=["minimize"] * terms.objectives)
        optuna.logging.set_verbosity(former)
        self._study.stop = self._stop  # type: ignore[method-assign] # samplers of a finite grid call it

    def _stop(self) -> None:
        self._ended = True

    def ask(self) -> list[list[float]]:
        if self._ended:
            return []
        trial = self._study.ask()
        vector = self._space.start()
        for i in self._order:
            p = self._space.parameters[i]
            if self._space.activity(vector)[i]:
                distribution = self._distributions[p.name]
                vector[i] = distribution.to_internal_repr(trial._suggest(p.name, distribution))
        self._open[self._asked] = trial
        self._asked += 1
        return [vector]

    def tell(self, number: int, values: Sequence[float] | None) -> None:
        trial = self._open.pop(number)
        # Samplers learn nothing from failed trials: they would suggest infeasible ones again and again.
        told = None if values is None else self._worst.of(values)
        if told is None or math.isnan(told[0]):
            self._study.tell(trial, state=TrialState.FAIL)
        else:
            self._study.tell(trial, told)

    def hear(self, vector: Sequence[float], values: Sequence[float]) -> None:
        active = self._space.activity(vector)
        of = [(p, x) for p, x, there in zip(self._space.parameters, vector, active, strict=True) if there]
        distributions = {p.name: self._distributions[p.name] for p, _ in of}
        params = {p.name: distributions[p.name].to_external_repr(x) for p, x in of}
        told = optuna.create_trial(params=params, distributions=distributions, values=list(values))
        self._study.add_trial(told)


def _in_order_of_need(parameters: Sequence[_core.Parameter]) -> list[int]:
    """Their indices: each after the parameters that its condition names."""
    names = {p.name: i for i, p in enumerate(parameters)}
    needs = [{names[word] for word in re.findall(r"\w+", p.active_when) if word in names} for p in parameters]
    order: list[int] = []
    while len(order) < len(parameters):
        ready = [i for i in range(len(parameters)) if i not in order and needs[i] <= set(order)]
        order += ready or [i for i in range(len(parameters)) if i not in order]
    return order
