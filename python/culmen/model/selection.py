"""The algorithm that is predicted to be the fastest, and the error of this prediction."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .algorithms import model_of, runs_with
from .measured import Place, Times
from .point_to_point import Network
from .segments import segmented

FIT, BETWEEN, ANALYTIC = "fit over sizes", "fits of two numbers of ranks", "analytic model"
CLOSE = 0.05  # relative: predictions that differ by less are as good as equal


@dataclass(frozen=True)
class Prediction:
    """``source``: FIT, BETWEEN or ANALYTIC. ``measured_s``: None if nothing was measured at this place."""

    algorithm: str
    time_s: float
    source: str
    measured_s: float | None = None


@dataclass(frozen=True)
class Regret:
    """Of the algorithm that is predicted without the measurements at a place. ``lost``: its measured time / that of the
    fastest one, minus 1."""

    place: Place
    algorithm: str
    fastest: str
    lost: float


class Selector:
    """Predicts the times of the algorithms of one collective of one MPI. ``net``: None if it is not known."""

    def __init__(self, times: Times, mpi: str, collective: str, net: Network | None) -> None:
        self.collective, self.net = collective, net
        self.algorithms = times.of[mpi, collective]

    def predict(self, place: Place, left_out: bool = False) -> list[Prediction]:
        """The fastest first. ``left_out``: ignores the measurements at this place."""
        out = []
        for name, places in self.algorithms.items():
            known = {p: t for p, t in places.items() if not (left_out and p == place)}
            if found := self._predict(name, known, place):
                out.append(Prediction(name, *found, places.get(place)))
        return sorted(out, key=lambda each: each.time_s)

    def places(self) -> list[Place]:
        """Where at least two algorithms were measured."""
        all_of = [place for places in self.algorithms.values() for place in places]
        return sorted({place for place in all_of if all_of.count(place) > 1})

    def regret(self, place: Place) -> Regret | None:
        """None if the prediction names an algorithm that was not measured at this place."""
        predicted = self.predict(place, left_out=True)
        there = {each.algorithm: each.measured_s for each in predicted if each.measured_s is not None}
        measured = {name: places[place] for name, places in self.algorithms.items() if place in places}
        if not predicted or predicted[0].algorithm not in there:
            return None
        fastest = min(measured, key=measured.__getitem__)
        chosen = predicted[0].algorithm
        return Regret(place, chosen, fastest, measured[chosen] / measured[fastest] - 1)

    def regrets(self) -> list[Regret]:
        return [found for place in self.places() if (found := self.regret(place)) is not None]

    def _predict(self, name: str, known: dict[Place, float], place: Place) -> tuple[float, str] | None:
        """Seconds, and their source. None if there is neither a measurement nearby nor a model, or it cannot run."""
        if not runs_with(self.collective, name, place.ranks):
            return None
        if (t := _at_ranks(known, place)) is not None:
            return t, FIT
        if (t := _between_ranks(known, place)) is not None:
            return t, BETWEEN
        model = model_of(self.collective, name)
        if model is None or self.net is None:
            return None
        return model(*place).time(self.net.send, self.net.reduce_s) * self._correction(name, known, place), ANALYTIC

    def _correction(self, name: str, known: dict[Place, float], place: Place) -> float:
        """Measured / predicted time at the nearest place; 1 without measurements."""
        model = model_of(self.collective, name)
        if not known or model is None or self.net is None:
            return 1.0
        nearest = min(known, key=lambda other: _distance(place, other))
        predicted = model(*nearest).time(self.net.send, self.net.reduce_s)
        return known[nearest] / predicted if predicted > 0 else 1.0


def _distance(a: Place, b: Place) -> float:
    return math.hypot(math.log(a.ranks / b.ranks), math.log((a.size + 1) / (b.size + 1)))


def _at_ranks(known: dict[Place, float], place: Place) -> float | None:
    """From the model over sizes at this number of ranks; None if the size is out of the measured range."""
    sizes = sorted(p.size for p in known if p.ranks == place.ranks)
    if not sizes or not sizes[0] <= place.size <= sizes[-1]:
        return None
    times = [known[Place(place.ranks, size)] for size in sizes]
    if len(sizes) == 1:
        return times[0]
    t = segmented(sizes, times).at(place.size)
    return t if t > 0 else float(np.interp(place.size, sizes, times))


def _between_ranks(known: dict[Place, float], place: Place) -> float | None:
    """Linear in the logarithms of time and ranks, between the next smaller and the next larger number of ranks."""
    numbers = sorted({p.ranks for p in known})
    at = {n: t for n in numbers if (t := _at_ranks(known, Place(n, place.size))) is not None}
    below, above = [n for n in at if n < place.ranks], [n for n in at if n > place.ranks]
    if not below or not above:
        return None
    low, high = max(below), min(above)
    share = math.log(place.ranks / low) / math.log(high / low)
    return math.exp((1 - share) * math.log(at[low]) + share * math.log(at[high]))


def as_good(predicted: Iterable[Prediction]) -> list[str]:
    """The algorithms after the first one whose time is nearly the same."""
    first, *others = predicted
    return [each.algorithm for each in others if each.time_s <= first.time_s * (1 + CLOSE)]
