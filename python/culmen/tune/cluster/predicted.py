"""Algorithms that are not measured, because the models of ``culmen model`` predict that they are slow."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from ...bench.collectives.samples import Measured, Table
from ...launch.mpi.collectives import DEFAULT
from ...model.measured import Place, Times
from ...model.selection import ANALYTIC, Prediction, Selector

# An algorithm is slow if its predicted time is more than this many times the shortest predicted time. In the models of
# a published study, algorithms within 5 % of the fastest one reach at most 1.96 and 3.3: see test_predicted.py.
_SLOW, _SLOW_ANALYTIC = 2.0, 5.0

Where = tuple[str, int]  # algorithm, and message size in bytes


def order_of(numbers: Iterable[int]) -> list[int]:
    """The numbers of ranks, in an order in which nearly all come after a smaller and a larger one. The times between
    two measured numbers can be predicted best."""
    rest = sorted(set(numbers))
    out = list(dict.fromkeys([*rest[:1], *rest[-1:]]))
    while len(out) < len(rest):
        out.append(max(set(rest) - set(out), key=lambda n: (_room(n, out), n)))
    return out


def _room(n: int, done: Sequence[int]) -> float:
    """The ratio of ``n`` and the nearest number in ``done``."""
    return min(max(n, other) / min(n, other) for other in done)


def slow_ones(there: Collection[Where], collective: str, ranks: int, races: Iterable[Path]) -> set[Where]:
    """Those of ``there`` that are predicted to be slow.

    ``races``: the samples of races with other numbers of ranks. Races of ``bcast`` and ``reduce`` with two ranks give
    the times of messages. On a noisy machine, the intervals of the times are long, and nothing is slow."""
    table = Table(path for path in races if path.exists())
    times, lows, highs = Times(table), Times(table, _low), Times(table, _high)
    out: set[Where] = set()
    for mpi, name in highs.of:
        if name == collective:
            low, high = (Selector(each, mpi, name, times.network(mpi)) for each in (lows, highs))
            out |= set(slow_in(low, high, ranks, there))
    return out


def _low(point: Measured) -> float:
    """An algorithm without an interval left the race at once."""
    return point.interval.low if point.interval.exists else point.interval.median


def _high(point: Measured) -> float:
    return point.interval.high if point.interval.exists else 0.0


def slow_in(lows: Selector, highs: Selector, ranks: int, there: Collection[Where]) -> Iterator[Where]:
    """``lows``, ``highs``: they predict from the lower or the upper ends of the intervals.

    A prediction needs measured times of the same algorithm. Between two measured numbers of ranks, it comes from fits.
    Outside of them, it comes from an analytic model, which is less certain."""
    for size in {size for _, size in there}:
        best, *_ = [*_predicted(highs, Place(ranks, size), there), None]
        for each in _predicted(lows, Place(ranks, size), there) if best else ():
            factor = _SLOW_ANALYTIC if ANALYTIC in (each.source, best.source) else _SLOW
            if each.algorithm != DEFAULT and each.time_s > factor * best.time_s:
                yield each.algorithm, size


def _predicted(selector: Selector, place: Place, there: Collection[Where]) -> list[Prediction]:
    return [each for each in selector.predict(place) if (each.algorithm, place.size) in there]
