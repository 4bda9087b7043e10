"""One collective with one number of ranks: all its algorithms and message sizes, interleaved, in one launch."""

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...launch.allocation import partition, ranks_on_a_node
from ...launch.mpi import find_launcher
from ...launch.mpi.collectives import DEFAULT, Algorithm
from ..conversation import LostError, RefusedError
from ..session import Ranks, Session
from ..suites import measured as suites
from ..suites.programs import version_of
from .messages import SENDS, sends
from .points import BARRIERS, Point, Protocol, roots_of
from .samples import Header, Samples, samples_file, write_samples

_LATE = 0.25  # with a larger share of late calls, the window becomes longer
_SPARE_S, _LONGEST_WINDOW = 20e-6, 10  # spare time of a window; its longest length in usual calls
_MOST_LOSSES = 5  # number of times that ranks may be lost in one measurement
_TRIALS = 20  # number of visits with windows before culmen decides whether windows help


@dataclass
class Starts:
    """How the ranks start a call: at a time that they all know, or after a barrier. Ranks that share a core with
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


NextRound = Callable[[list[Point], Protocol, random.Random], list[Point]]


def points_of(
    collective: str, algorithms: Iterable[Algorithm], sizes: Iterable[int], roots: Sequence[int] = (0,)
) -> list[Point]:
    """Each algorithm with each size and root."""
    algorithms = list(algorithms)
    return [
        Point(algorithm=algorithm, size=size, root=root)
        for size in sizes
        for root in roots_of(collective, roots)
        for algorithm in algorithms
    ]


def all_that_need_more(points: list[Point], protocol: Protocol, rng: random.Random) -> list[Point]:
    """All points that need more visits, in a random order."""
    active = [point for point in points if not (point.unavailable or point.ended or point.has_enough(protocol))]
    rng.shuffle(active)
    return active


def measure_points(
    ranks: Ranks, collective: str, points: list[Point], protocol: Protocol, seed: int,
    next_round: NextRound = all_that_need_more,
) -> None:  # fmt: skip
    """Each round visits points. If ranks end or hang with an algorithm, it is not called again. If this happens with
    the MPI's own choice, or with several algorithms, the measurement ends. Earlier samples are kept. ``next_round``:
    returns the points of a round, in their order; none if the measurement is complete."""
    rng = random.Random(seed)  # noqa: S311 - an order, no secret
    losses = 0
    own = ranks.functions(collective)
    starts = Starts(windows=not ranks.session.oversubscribed)
    while active := next_round(points, protocol, rng):
        for point in active:
            if point.unavailable or point.ended:  # it ended in this round
                continue
            try:
                if not point.checked:
                    _check(ranks.session, collective, point)
                else:
                    _visit(ranks.session, ranks.number, collective, point, protocol, starts, own)
            except RefusedError as error:
                point.give_up(str(error))
            except LostError as error:
                ranks.end()
                losses += 1
                all_end = point.algorithm.name == DEFAULT or losses > _MOST_LOSSES
                point.visits = []
                for each in points:
                    if all_end or each.algorithm.base == point.algorithm.base:
                        each.give_up(str(error))
                if all_end:
                    return


def _check(session: Session, collective: str, point: Point) -> None:
    point.checked = True
    try:
        communicator = session.choose(collective, point.algorithm)
        session.check(collective, communicator, point.size, point.root)
    except RefusedError as error:
        point.unavailable = str(error)


def _visit(
    session: Session, ranks: int, collective: str, point: Point, protocol: Protocol, starts: Starts, own: set[str]
) -> None:
    """``own``: the functions of all algorithms of the collective."""
    begun = time.monotonic()
    communicator = session.choose(collective, point.algorithm)
    calls = point.next_calls(protocol)
    window_s = point.window_s if starts.windows else 0.0
    times, functions = session.time(collective, communicator, point.size, point.root, calls, window_s)
    point.visits.append(times)
    starts.note(point, times)
    point.spent_s += time.monotonic() - begun
    if point.algorithm.function:
        point.verified = point.verified and functions & own == {point.algorithm.function}
    elif shown := next((said for said in functions if said.startswith(SENDS)), ""):
        point.is_shown = True
        expected = sends(collective, point.algorithm.name, ranks, point.size, point.root)
        point.verified = point.verified and shown == expected


def measure(p: Mapping[str, Any]) -> tuple[float, dict[str, float]]:
    """The evaluator of the study. Its value is the number of points whose median is less exact than requested."""
    collective, ranks = p["collective"], int(p["ranks"])
    protocol = Protocol(float(p["interval"]), float(p["budget_s"]), int(p["repetitions"]), float(p["timeout_s"]))
    roots = [int(word) for word in p["roots"].split(",")]
    launcher = find_launcher(None if p["mpi"] == "default" else p["mpi"])
    known = launcher.mpi.collectives
    assert known is not None
    wanted = p["algorithms"].split(",")
    algorithms = [a for a in known.algorithms(collective, ranks) if wanted == ["all"] or a.name in wanted]
    sizes = [int(word) for word in p["sizes"].split(",")] if collective not in BARRIERS else [0]
    begun, seed = time.monotonic(), random.SystemRandom().getrandbits(32)
    if p["suite"]:
        points = suites.measure_points(Path(p["suite"]), launcher, collective, ranks, algorithms, sizes, protocol, seed)
        on_a_node = ranks_on_a_node(ranks)
        version, nodes = version_of(launcher), (-(-ranks // on_a_node), on_a_node)
    else:
        with Ranks(launcher, ranks, protocol.timeout_s, p["mapping"]) as launched:
            points = points_of(collective, algorithms, sizes, roots)
            measure_points(launched, collective, points, protocol, seed)
            version, nodes = launched.version, launched.nodes
    if points and all(point.ended for point in points) and not any(point.visits for point in points):
        raise LostError(points[0].unavailable)
    exact = sum(point.is_exact(protocol) for point in points)
    measured = [point for point in points if point.visits]
    header = Header(launcher.mpi.name, version, collective, ranks, *nodes, partition(), p["mapping"])
    rows = [as_samples(point, collective, known.refuses) for point in points]
    write_samples(samples_file(collective, ranks, p["mapping"]), header, rows)
    figures = {
        "points": len(measured),
        "calls": sum(len(times) for point in measured for times in point.visits),
        "unverified": sum(not is_verified(point, collective, known.refuses) for point in measured),
        "unavailable": len(points) - len(measured),
        "seconds": time.monotonic() - begun,
    }
    return float(len(measured) - exact), figures


def is_verified(point: Point, collective: str, refuses: bool) -> bool:
    """Whether it is certain that the chosen algorithm ran; always true for the MPI's own choice. ``refuses``: see
    Collectives."""
    if point.algorithm.name == DEFAULT:
        return True
    if point.algorithm.function or point.is_shown:
        return point.verified
    return refuses and (point.size > 0 or collective in BARRIERS)  # without data, MPICH runs no algorithm


def as_samples(point: Point, collective: str, refuses: bool) -> Samples:
    verified = bool(point.visits) and is_verified(point, collective, refuses)
    return Samples(
        point.algorithm.name, point.size, point.visits, point.cold_visits(), verified, point.unavailable, point.root
    )
