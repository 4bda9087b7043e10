"""pycma's CMAEvolutionStrategy in the unit cube. It ends when one of pycma's own criteria is met."""

import math
from collections.abc import Sequence
from typing import Any

import cma
import numpy as np

from .._core import InputError
from .adapter import Terms, Worst, needs_order, one_objective, unknown


def names() -> set[str]:
    """The library has only this one."""
    return {""}


def make(name: str, what: str, options: dict[str, Any], terms: Terms) -> "PycmaAdapter":
    if what not in ("", "CMAEvolutionStrategy"):
        raise unknown(name, what, "pycma", "strategy", ["CMAEvolutionStrategy"])
    needs_order(name, terms)
    one_objective(name, terms)
    if len(terms.space) < 2:
        raise InputError(f"optimizer '{name}' needs at least two parameters")
    known = set(cma.CMAOptions.defaults())
    for option in options.keys() - known - {"sigma0"}:
        raise unknown(name, option, "pycma", "option", [*known, "sigma0"])
    return PycmaAdapter(options, terms)


class PycmaAdapter:
    """``sigma0`` is a share of the range; ``seed`` is the study's by default."""

    library = f"cma {cma.__version__}"
    window = 0

    def __init__(self, options: dict[str, Any], terms: Terms) -> None:
        space = terms.space
        sigma0 = options.pop("sigma0", 0.3)
        start = space.to_unit(space.start()) if space.has_start() else [0.5] * len(space)
        # A generator with the same seed as the one that pycma would set for the whole process, which other code may
        # use.
        random = np.random.RandomState(options.pop("seed", terms.seed) % 2**32)
        quiet = {"verbose": -9, "verb_log": 0, "verb_disp": 0}
        own = {"bounds": [0, 1], "randn": random.randn, "seed": math.nan}
        self._strategy = cma.CMAEvolutionStrategy(start, sigma0, {**quiet, **own, **options})
        self._space = space
        self._worst = Worst(1)
        self._points: list[Any] = []
        self._first = 0  # the number of the first of them
        self._values: dict[int, float] = {}

    def ask(self) -> list[list[float]]:
        if self._points:
            self._strategy.tell(self._points, [self._values[self._first + i] for i in range(len(self._points))])
            self._first += len(self._points)
        self._values.clear()
        self._points = [] if self._strategy.stop() else self._strategy.ask()
        return [self._space.from_unit([float(u) for u in point]) for point in self._points]

    def tell(self, number: int, values: Sequence[float] | None) -> None:
        self._values[number] = self._worst.of(values)[0]

    def hear(self, vector: Sequence[float], values: Sequence[float]) -> None:
        """It starts at the space's initial values, and learns nothing from other candidates."""
