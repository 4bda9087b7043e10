"""A race between algorithms: slow algorithms are not measured to the end."""

import random
from collections.abc import Iterable
from statistics import median

import numpy as np

from ...bench.collectives.points import Point, Protocol, by_place
from ...launch.mpi.collectives import DEFAULT
from .visits import times_faster

_HOPELESS = 2.0  # if an algorithm is this many times slower than the fastest one, one visit is enough
_PAIRS, _SLOWER = 4, 1.05  # an algorithm leaves if it is slower in this many visits in a row, and by this factor


class Race:
    """Chooses the points of each round, for ``measure_points``.

    First, every second message size is measured. At the sizes between them, an algorithm starts only if it was not
    hopeless at a neighbouring size. The MPI's own choice and the fastest algorithm always run to the end.
    """

    def __init__(self, points: Iterable[Point]) -> None:
        points = list(points)
        sizes = sorted({point.size for point in points})
        self._coarse = {*sizes[::2], sizes[-1]}
        self._neighbours = {
            size: [other for other in sizes[max(k - 1, 0) : k + 2] if other in self._coarse]
            for k, size in enumerate(sizes)
        }
        self._out: set[int] = set()  # ids of points
        self._hopeless: set[int] = set()
        self._fine = False  # the sizes between the coarse ones have started

    def __call__(self, points: list[Point], protocol: Protocol, rng: random.Random) -> list[Point]:
        for there in by_place(points):
            self._judge(there)
        active = [point for point in self._started(points) if self._goes_on(point, protocol)]
        if not active and not self._fine:
            self._fine = True
            self._leave_out(points)
            return self(points, protocol, rng)
        rng.shuffle(active)
        return active

    def _started(self, points: list[Point]) -> list[Point]:
        return points if self._fine else [point for point in points if point.size in self._coarse]

    def _goes_on(self, point: Point, protocol: Protocol) -> bool:
        return not (point.unavailable or point.ended or id(point) in self._out or point.has_enough(protocol))

    def _judge(self, there: list[Point]) -> None:
        """Takes slow algorithms out of the race. ``there``: all algorithms at one place."""
        running = [point for point in there if point.in_time and id(point) not in self._out and _counts(point)]
        if len(running) < 2:
            return
        default = next((point for point in running if point.algorithm.name == DEFAULT), running[0])
        best = max(running, key=lambda point: _times_faster(point, default))
        for point in running:
            if point is best or point.algorithm.name == DEFAULT:
                continue
            if min(map(min, point.in_time)) > _HOPELESS * _median(best):
                self._hopeless.add(id(point))
                self._out.add(id(point))
            elif _always_slower(point, best):
                self._out.add(id(point))

    def _leave_out(self, points: list[Point]) -> None:
        """Leaves out algorithms at the sizes between, if they were hopeless at all neighbouring sizes."""
        measured = {(point.algorithm.name, point.size, point.root): point for point in points}
        for point in points:
            if point.size in self._coarse or point.algorithm.name == DEFAULT:
                continue
            places = [(point.algorithm.name, size, point.root) for size in self._neighbours[point.size]]
            beside = [measured[place] for place in places if place in measured]
            if beside and all(id(other) in self._hopeless for other in beside):
                self._out.add(id(point))


def _counts(point: Point) -> bool:
    """Whether the algorithm itself ran, as far as culmen knows."""
    return point.verified or point.algorithm.name == DEFAULT


def _median(point: Point) -> float:
    return float(np.median(np.concatenate(point.in_time)))


def _times_faster(point: Point, default: Point) -> float:
    """0 if it is not known."""
    pairs = _in_same_rounds(default, point)
    return times_faster(pairs) if pairs else 0.0


def _always_slower(point: Point, best: Point) -> bool:
    """Whether the point was slower in all of the last visits that both have."""
    last = _in_same_rounds(point, best)[-_PAIRS:]
    if len(last) < _PAIRS:
        return False
    own, other = np.array(last).T
    return bool(np.all(own > other) and np.median(own / other) > _SLOWER)


def _in_same_rounds(one: Point, other: Point) -> list[tuple[float, float]]:
    """The median times of each round in which calls of both count. Only these are compared, because a whole round can
    be slower than another."""
    own, others = _medians(one), _medians(other)
    return [(own[k], others[k]) for k in sorted(own.keys() & others.keys())]


def _medians(point: Point) -> dict[int, float]:
    """By the numbers of the rounds."""
    counting = {k: [t for t in times if t > 0] for k, times in enumerate(point.visits)}
    return {k: median(times) for k, times in counting.items() if times}
