"""One collective with one number of ranks: all its algorithms and message sizes, interleaved, in one launch."""

import random
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...launch.mpi import find_launcher
from ...launch.mpi.collectives import DEFAULT, Algorithm
from .samples import Header, Samples, samples_file, write_samples
from .sampling import LEAST_VISITS, interval, warm_up
from .session import LostError, Ranks, RefusedError, Session

_FIRST_CALLS, _MOST_CALLS, _VISIT_S = 3, 100, 0.005  # a visit is short, so that all algorithms meet the same noise
_LATE = 0.25  # with a larger share of late calls, the window becomes longer
_SPARE_S, _LONGEST_WINDOW = 20e-6, 10  # the latter in usual calls
_MOST_LOSSES = 5  # of ranks in one launch
_TRIALS = 20  # visits with windows, before it is decided whether they are of use


@dataclass(frozen=True)
class Protocol:
    """``interval``: half the length of the median's interval, relative; with ``repetitions`` it is not looked at.
    ``budget_s``: of the visits to one algorithm with one size. ``timeout_s``: of one answer of the ranks."""

    interval: float = 0.05
    budget_s: float = 1.0
    repetitions: int = 0
    timeout_s: float = 60.0
    root: int = 0


@dataclass
class Point:
    """One algorithm with one message size."""

    algorithm: Algorithm
    size: int
    checked: bool = False  #: one call gave the right result, or it is unavailable
    visits: list[list[float]] = field(default_factory=list)  #: negative: a rank was late
    verified: bool = True
    unavailable: str = ""  #: why it cannot be measured
    window_s: float = 0.0
    spent_s: float = 0.0

    @property
    def in_time(self) -> list[list[float]]:
        """The visits without the calls for which a rank was late."""
        return [kept for times in self.visits if (kept := [t for t in times if t > 0])]

    def has_enough(self, protocol: Protocol) -> bool:
        visits = self.in_time
        if protocol.repetitions:
            return sum(map(len, visits)) >= protocol.repetitions
        if self.spent_s >= protocol.budget_s and len(self.visits) >= LEAST_VISITS:
            return True
        kept = visits[warm_up(visits) :] if visits else []
        return len(kept) >= LEAST_VISITS and interval(kept).relative <= protocol.interval

    def next_calls(self, protocol: Protocol) -> int:
        visits = self.in_time
        if not visits:
            return _FIRST_CALLS
        about = _VISIT_S / max(sorted(visits[-1])[len(visits[-1]) // 2], self.window_s, 1e-9)
        calls = max(1, min(_MOST_CALLS, int(about)))
        if protocol.repetitions:
            calls = min(calls, protocol.repetitions - sum(map(len, visits)))
        return calls


@dataclass
class Starts:
    """How the ranks start a call: at a time that they all know, or behind a barrier. Ranks that share a core with
    others, or with other programs, are late too often for the first way."""

    windows: bool
    visits: int = 0
    late: int = 0  #: visits with more late calls than _LATE

    def note(self, point: Point, times: list[float]) -> None:
        """Sets the window of the point's next visit."""
        if not self.windows:
            return
        late = sum(t < 0 for t in times) > _LATE * len(times)
        usual = sorted(map(abs, times))[len(times) * 3 // 4]
        self.visits, self.late = self.visits + 1, self.late + late
        self.windows = self.visits < _TRIALS or self.late <= self.visits // 2
        wanted = 2 * point.window_s if late else 0.0
        point.window_s = max(2 * usual, min(wanted, _LONGEST_WINDOW * usual)) + _SPARE_S


def measure_points(
    ranks: Ranks, collective: str, algorithms: list[Algorithm], sizes: Iterable[int], protocol: Protocol, seed: int
) -> list[Point]:
    """Each round visits all points that need more calls, in a random order. If ranks end or hang with an algorithm, it
    is not called again.

    Raises LostError if this happens with the MPI's own choice, or with several algorithms.
    """
    rng = random.Random(seed)  # noqa: S311 - an order, no secret
    points = [Point(algorithm, size) for size in sizes for algorithm in algorithms]
    active, losses = list(points), 0
    starts = Starts(windows=not ranks.session.oversubscribed)
    while active:
        for point in active:
            try:
                if not point.checked:
                    _check(ranks.session, collective, point, protocol.root)
                elif not point.unavailable:
                    _visit(ranks.session, collective, point, protocol, starts)
            except LostError as error:
                ranks.end()
                losses += 1
                if point.algorithm.name == DEFAULT or losses > _MOST_LOSSES:
                    raise
                for each in points:
                    if each.algorithm == point.algorithm:
                        each.unavailable, each.visits = str(error), []
        active = [point for point in active if not point.unavailable and not point.has_enough(protocol)]
        rng.shuffle(active)
    return points


def _check(session: Session, collective: str, point: Point, root: int) -> None:
    point.checked = True
    try:
        communicator = session.choose(collective, point.algorithm)
        session.check(collective, communicator, point.size, root)
    except RefusedError as error:
        point.unavailable = str(error)


def _visit(session: Session, collective: str, point: Point, protocol: Protocol, starts: Starts) -> None:
    begun = time.monotonic()
    communicator = session.choose(collective, point.algorithm)
    calls = point.next_calls(protocol)
    window_s = point.window_s if starts.windows else 0.0
    times, functions = session.time(collective, communicator, point.size, protocol.root, calls, window_s)
    point.visits.append(times)
    starts.note(point, times)
    point.spent_s += time.monotonic() - begun
    if point.algorithm.function:
        own = {name for name in functions if name.startswith(_family(point.algorithm.function, collective))}
        point.verified = point.verified and own == {point.algorithm.function}


def _family(function: str, collective: str) -> str:
    """The beginning of the names of the functions of all algorithms of the collective."""
    return function[: function.index(f"_{collective}_") + len(collective) + 2]


def measure(p: Mapping[str, Any]) -> tuple[float, dict[str, float]]:
    """The evaluator of the study. Its value is the number of points whose median is less exact than was asked for."""
    collective, ranks = p["collective"], int(p["ranks"])
    protocol = Protocol(
        float(p["interval"]), float(p["budget_s"]), int(p["repetitions"]), float(p["timeout_s"]), int(p["root"])
    )
    launcher = find_launcher(None if p["mpi"] == "default" else p["mpi"])
    known = launcher.mpi.collectives
    assert known is not None
    wanted = p["algorithms"].split(",")
    algorithms = [a for a in known.algorithms(collective, ranks) if wanted == ["all"] or a.name in wanted]
    sizes = [int(word) for word in p["sizes"].split(",")] if collective != "barrier" else [0]
    begun = time.monotonic()
    with Ranks(launcher, ranks, protocol.timeout_s) as launched:
        points = measure_points(launched, collective, algorithms, sizes, protocol, seed=ranks)
        version = launched.version
    exact = sum(point.has_enough(protocol) and _is_exact(point, protocol) for point in points)
    measured = [point for point in points if point.visits]
    header = Header(launcher.mpi.name, version, collective, ranks, protocol.root)
    write_samples(samples_file(collective, ranks), header, [_as_samples(point, known.refuses) for point in points])
    figures = {
        "points": len(measured),
        "calls": sum(len(times) for point in measured for times in point.visits),
        "unverified": sum(not _is_verified(point, known.refuses) for point in measured),
        "unavailable": len(points) - len(measured),
        "seconds": time.monotonic() - begun,
    }
    return float(len(measured) - exact), figures


def _is_exact(point: Point, protocol: Protocol) -> bool:
    if protocol.repetitions:
        return bool(point.visits)
    visits = point.in_time
    return bool(visits) and interval(visits[warm_up(visits) :]).relative <= protocol.interval


def _is_verified(point: Point, refuses: bool) -> bool:
    """Whether the algorithm that was asked for is known to have run. The MPI's own choice is always what it is."""
    if point.algorithm.name == DEFAULT:
        return True
    return point.verified if point.algorithm.function else refuses


def _as_samples(point: Point, refuses: bool) -> Samples:
    """The visits, each with whether it was warm-up: that is counted in visits with a call in time."""
    left = warm_up(point.in_time) if point.in_time else 0
    cold = []
    for times in point.visits:
        cold.append(left > 0)
        left -= any(t > 0 for t in times)
    verified = bool(point.visits) and _is_verified(point, refuses)
    return Samples(point.algorithm.name, point.size, point.visits, cold, verified, point.unavailable)
