"""The algorithm that is predicted to be the fastest, and the error of this prediction."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .algorithms import model_of, runs_with
from .measured import Place, Times
from .point_to_point import Network
from .segments import segmented

FIT, BETWEEN, ANALYTIC = "fit over sizes", "fits of two numbers of ranks", "analytic model"
CLOSE = 0.05  # relative: predictions that differ by less are as good as equal
_OTHER_NETWORK = 3.0  # a larger typical factor, or its inverse: the times are of another network than the messages


class Correction(NamedTuple):
    """``factor``: measured / predicted time of an analytic model at the nearest measured place, ``at``. ``used``: the
    prediction is multiplied by it."""

    factor: float
    at: Place
    used: bool = True


@dataclass(frozen=True)
class Prediction:
    """``source``: FIT, BETWEEN or ANALYTIC. ``measured_s``: None if nothing was measured at this place. ``correction``:
    of an analytic model, unless nothing was measured with this algorithm."""

    algorithm: str
    time_s: float
    source: str
    measured_s: float | None = None
    correction: Correction | None = None


@dataclass(frozen=True)
class Regret:
    """Of the algorithm that is predicted without the measurements at a place. ``lost``: its measured time / that of the
    fastest one, minus 1."""

    place: Place
    algorithm: str
    fastest: str
    lost: float


class Selector:
    """Predicts the times of the algorithms of one collective of one MPI. ``net``: None if it is not known.
    ``other_messages``: it is not of the same measurement as the times."""

    def __init__(
        self, times: Times, mpi: str, collective: str, net: Network | None, other_messages: bool = False
    ) -> None:
        self.collective, self.net, self.other_messages = collective, net, other_messages
        self.algorithms = times.of[mpi, collective]

    def predict(self, place: Place, left_out: bool = False) -> list[Prediction]:
        """The fastest first. ``left_out``: ignores the measurements at this place."""
        known = {
            name: {p: t for p, t in places.items() if not (left_out and p == place)}
            for name, places in self.algorithms.items()
        }
        known = {name: times for name, times in known.items() if runs_with(self.collective, name, place.ranks)}
        fits = {name: found for name, times in known.items() if (found := _from_fits(times, place))}
        corrections = self._corrections({name: times for name, times in known.items() if name not in fits}, place)
        out = []
        for name in known:
            if found := fits.get(name) or self._from_model(name, place, corrections.get(name)):
                out.append(Prediction(name, *found, self.algorithms[name].get(place), corrections.get(name)))
        return sorted(out, key=lambda each: each.time_s)

    def extent(self) -> tuple[Place, Place]:
        """The smallest and the largest numbers of ranks and sizes that were measured."""
        ranks, sizes = zip(*{place for places in self.algorithms.values() for place in places}, strict=True)
        return Place(min(ranks), min(sizes)), Place(max(ranks), max(sizes))

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

    def _from_model(self, name: str, place: Place, correction: Correction | None) -> tuple[float, str] | None:
        """Seconds, and their source. None if there is no model."""
        model = model_of(self.collective, name)
        if model is None or self.net is None:
            return None
        factor = correction.factor if correction and correction.used else 1.0
        return model(*place).time(self.net.send, self.net.reduce_s) * factor, ANALYTIC

    def _corrections(self, known: dict[str, dict[Place, float]], place: Place) -> dict[str, Correction]:
        """By algorithm. If the times are typically of another network than the messages, none is used: with the
        correction of some algorithms only, predictions could not be compared."""
        found = {name: each for name, times in known.items() if (each := self._correction(name, times, place))}
        if self.other_messages and found:
            typical = abs(np.median([math.log(each.factor) for each in found.values()]))
            if typical > math.log(_OTHER_NETWORK):
                return {name: each._replace(used=False) for name, each in found.items()}
        return found

    def _correction(self, name: str, known: dict[Place, float], place: Place) -> Correction | None:
        """None without measurements or without a model."""
        model = model_of(self.collective, name)
        if not known or model is None or self.net is None:
            return None
        nearest = min(known, key=lambda other: _distance(place, other))
        predicted = model(*nearest).time(self.net.send, self.net.reduce_s)
        return Correction(known[nearest] / predicted, nearest) if predicted > 0 else None


def _from_fits(known: dict[Place, float], place: Place) -> tuple[float, str] | None:
    """Seconds, and their source. None if there is no measurement nearby."""
    if (t := _at_ranks(known, place)) is not None:
        return t, FIT
    if (t := _between_ranks(known, place)) is not None:
        return t, BETWEEN
    return None


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
