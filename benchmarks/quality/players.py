"""Optimizers that run by ask and tell: those of culmen, and pycma with many workers. Others: bbob_peers.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from culmen import _core

from .problems import Problem


class BudgetSpent(Exception):
    """Raised inside a peer that calls a function, when its budget is used up."""


class Player(Protocol):
    """An optimizer by ask and tell. Ids come from ask()."""

    def ask(self, n: int) -> list[tuple[Any, Any]]: ...
    def tell(self, evaluation: Any, value: float, duration: float) -> None: ...


class Culmen:
    """One of culmen's optimizers.

    name: with options after a colon (cmaes:population=20,sigma=0.3). generational=false is such an option.
    """

    def __init__(
        self,
        name: str,
        problem: Any,
        seed: int,
        budget: int,
        objectives: int = 1,
        limits: Sequence[tuple[str, float, float]] = (),
        start: Sequence[float] | None = None,
    ) -> None:
        name, options = read_options(name)
        generational = bool(options.pop("generational", True))
        space = [_core.real(f"x{i}", problem.lower, problem.upper) for i in range(problem.dimension)]
        self._limits = limits
        self._optimizer = _core.Optimizer(
            _core.Space(space),
            name,
            seed,
            options,
            [] if start is None else [list(start)],
            objectives=objectives,
            evaluations=budget,
            generational=generational,
            limits=limits,
        )
        self.ask = self._optimizer.ask
        self.resize = self._optimizer.resize

    def tell(self, evaluation: Any, value: float, duration: float) -> None:
        self._optimizer.tell(evaluation, value, duration_s=duration)

    def tell_figures(self, evaluation: Any, value: float, figures: Mapping[str, float]) -> None:
        """With the figures that have limits."""
        self._optimizer.tell(evaluation, value, duration_s=1.0, figures=figures, limits=self._limits)


def read_options(player: str) -> tuple[str, dict[str, Any]]:
    """Splits name:option=value,…"""
    name, _, words = player.partition(":")
    return name, dict(_option(word) for word in words.split(",") if word)


def _option(word: str) -> tuple[str, Any]:
    name, _, value = word.partition("=")
    if value in ("true", "false"):
        return name, value == "true"
    try:
        return name, float(value)
    except ValueError:
        return name, value


class PycmaGenerations:
    """pycma with one member for each worker, told when all results are there. It restarts when it stops."""

    def __init__(self, problem: Problem, seed: int, workers: int) -> None:
        self._problem, self._population = problem, self.population(workers)
        self._random = np.random.default_rng(seed)
        self._begin()

    def population(self, workers: int) -> int:
        return workers

    def _begin(self) -> None:
        import cma

        options = {
            "verbose": -9,
            "seed": int(self._random.integers(1, 2**31)),
            "bounds": [self._problem.lower, self._problem.upper],
            "popsize": self._population,
        }
        start = self._random.uniform(-4, 4, self._problem.dimension)
        self._strategy = cma.CMAEvolutionStrategy(start, 2, options)
        self._asked: list[Any] = []
        self._arrived: list[tuple[Any, float]] = []

    def ask(self, n: int) -> list[tuple[Any, Any]]:
        if not self._asked and not self._arrived:
            self._asked = list(self._strategy.ask())
        given, self._asked = self._asked[:n], self._asked[n:]
        return [((self._strategy, x), x) for x in given]

    def tell(self, evaluation: Any, value: float, duration: float) -> None:
        strategy, x = evaluation
        if strategy is not self._strategy:
            return
        self._arrived.append((x, value))
        if len(self._arrived) < self._population:
            return
        self._strategy.tell([x for x, _ in self._arrived], [value for _, value in self._arrived])
        self._arrived = []
        if self._strategy.stop():
            self._begin()


class PycmaArrivals(PycmaGenerations):
    """pycma with half as many members, told when this number of results is there. Results may be late."""

    def population(self, workers: int) -> int:
        return max(4, workers // 2)

    def ask(self, n: int) -> list[tuple[Any, Any]]:
        return [((self._strategy, x), x) for x in self._strategy.ask(n)]


Stream = Callable[[Problem, int, int], Player]  # problem, seed, workers
STREAMS: dict[str, Stream] = {"pycma": PycmaGenerations, "pycma-arrivals": PycmaArrivals}
