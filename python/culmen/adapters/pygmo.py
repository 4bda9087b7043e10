"""Algorithms of pagmo by pygmo, in the unit cube.

They have no ask and tell: they evolve a population for a problem. Therefore each runs in a thread of its own. Its
problem gives out each point and waits for its value. An algorithm with a batch evaluator gives out a whole generation.
"""

import queue
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pygmo as pg

from .._core import InputError
from .adapter import Terms, Worst, needs_order, unknown

_NONE = {"algorithm", "archipelago", "island"}  # they evolve, too


def names() -> set[str]:
    kinds = {n: kind for n, kind in vars(pg).items() if isinstance(kind, type)}
    return {n for n, kind in kinds.items() if hasattr(kind, "get_log") or hasattr(kind, "evolve")} - _NONE


def make(name: str, what: str, options: dict[str, Any], terms: Terms) -> "PygmoAdapter":
    """``population`` (20): its size."""
    needs_order(name, terms)
    known = names()
    if what not in known:
        raise unknown(name, what, "pygmo", "algorithm", known)
    size = options.pop("population", 20)
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise InputError(f"optimizer '{name}': option 'population' must be a whole number, at least 1, got {size!r}")
    return PygmoAdapter(algorithm_of(what, options, size, terms), size, terms)


def algorithm_of(what: str, options: dict[str, Any], size: int, terms: Terms) -> Any:
    """With the study's seed, and with as many generations or evaluations as the budget allows, if it takes these."""
    kind = getattr(pg, what)
    takes = str(kind.__doc__).partition(")")[0]  # its signature
    evaluations = terms.evaluations or 1_000_000
    if "(gen =" in takes:
        options.setdefault("gen", -(-evaluations // size))
    if "(max_fevals =" in takes:
        options.setdefault("max_fevals", evaluations)
    if "seed =" in takes:
        options.setdefault("seed", terms.seed % 2**32)
    return kind(**options)


class _Closed(BaseException):
    """Ends the thread."""


class _Desk:
    """The place where the algorithm's thread hands out points."""

    def __init__(self) -> None:
        self.points: queue.SimpleQueue[Any] = queue.SimpleQueue()  # a batch, or None: it has ended
        self.values: queue.SimpleQueue[Any] = queue.SimpleQueue()  # values of a batch, or None: the run has ended
        self.served = 0
        self.error: BaseException | None = None

    def evaluate(self, points: Any) -> Any:
        self.points.put(points)
        values = self.values.get()
        if values is None:
            raise _Closed
        self.served += len(points)
        return values


class _Problem:
    """pygmo copies problems; the copies share this desk."""

    def __init__(self, desk: _Desk, terms: Terms) -> None:
        self._desk, self._size, self._objectives = desk, len(terms.space), terms.objectives

    def __deepcopy__(self, memo: object) -> "_Problem":
        return self

    def fitness(self, x: Any) -> Any:
        return self._desk.evaluate([x])[0]

    def get_bounds(self) -> tuple[list[float], list[float]]:
        return [0.0] * self._size, [1.0] * self._size

    def get_name(self) -> str:
        return "the study"

    def get_nobj(self) -> int:
        return self._objectives


class _Batch:
    def __init__(self, desk: _Desk, terms: Terms) -> None:
        self._desk, self._size = desk, len(terms.space)

    def __deepcopy__(self, memo: object) -> "_Batch":
        return self

    def __call__(self, problem: Any, points: Any) -> Any:
        return np.concatenate(self._desk.evaluate(np.reshape(points, (-1, self._size))))


def _evolve(desk: _Desk, algorithm: Any, size: int, terms: Terms) -> None:
    """Evolves until the algorithm evaluates no more points."""
    try:
        batch = pg.bfe(_Batch(desk, terms))
        if hasattr(algorithm, "set_bfe"):
            algorithm.set_bfe(batch)
        population = pg.population(pg.problem(_Problem(desk, terms)), size, b=batch, seed=terms.seed % 2**32)
        whole, before = pg.algorithm(algorithm), -1
        while desk.served > before:
            before = desk.served
            population = whole.evolve(population)
    except BaseException as e:
        desk.error = e
    finally:
        desk.points.put(None)


def _plain(error: BaseException) -> BaseException:
    """pagmo's messages name the line of its source; this removes it."""
    _, there, sentence = str(error).rpartition("what: ")
    return type(error)(sentence.strip()) if there else error


class PygmoAdapter:
    library = f"pygmo {pg.__version__}"
    window = 0

    def __init__(self, algorithm: Any, size: int, terms: Terms) -> None:
        self._space = terms.space
        self._desk = _Desk()
        self._worst = Worst(terms.objectives)
        self._values: list[list[float]] = []
        self._first = 0
        self._points: Any = ()
        self._thread = threading.Thread(target=_evolve, args=(self._desk, algorithm, size, terms), daemon=True)

    def __del__(self) -> None:
        if hasattr(self, "_thread") and self._thread.is_alive():
            self._desk.values.put(None)

    def ask(self) -> list[list[float]]:
        if self._thread.ident is None:
            self._thread.start()
        else:
            self._desk.values.put(np.array(self._values))
        self._first += len(self._points)
        self._points = self._desk.points.get()
        if self._points is None:
            self._points = ()
            if self._desk.error is not None:
                raise _plain(self._desk.error)
            return []
        self._values = [[]] * len(self._points)
        return [self._space.from_unit([float(u) for u in x]) for x in self._points]

    def tell(self, number: int, values: Sequence[float] | None) -> None:
        self._values[number - self._first] = self._worst.of(values)

    def hear(self, vector: Sequence[float], values: Sequence[float]) -> None:
        """A population starts with its own points."""
