"""One collective with one number of ranks, measured by a suite: a visit is a launch of its program."""

import random
import time
from collections.abc import Iterable
from pathlib import Path

from ...base.text import plural
from ...launch.mpi import Launcher
from ...launch.mpi.collectives import DEFAULT, Algorithm
from ..collectives.points import Point, Protocol
from ..conversation import LostError, RefusedError
from .programs import program_in, run

_CALLS = 100  # of each launch, unless the user gives a number


def measure_points(
    folder: Path, launcher: Launcher, collective: str, ranks: int, algorithms: list[Algorithm], sizes: Iterable[int],
    protocol: Protocol, seed: int,
) -> list[Point]:  # fmt: skip
    """Each round launches the program once for each algorithm that needs more times, in a random order. The time of a
    visit is the mean over calls and ranks that the program prints. If the user sets the number of repetitions, there is
    only one launch, with this number of calls.

    Raises InputError if the folder has no program, LostError or RefusedError if its first launch with the MPI's own
    choice fails. After a later failure, what was measured stays.
    """
    program, sizes = program_in(folder, collective), list(sizes)
    rng = random.Random(seed)  # noqa: S311 - an order, no secret
    known = launcher.mpi.collectives
    own = {each.function for each in known.algorithms(collective)} if known else set()
    points = [[Point(algorithm=algorithm, size=size) for size in sizes] for algorithm in algorithms]
    active = list(points)
    while active:
        for of in active:
            begun, algorithm = time.monotonic(), of[0].algorithm
            calls = protocol.repetitions or _CALLS
            try:
                results, ran = run(program, launcher, ranks, algorithm, sizes, calls, protocol.timeout_s)
            except (LostError, RefusedError) as error:
                if algorithm.name == DEFAULT and not any(point.visits for point in of):
                    raise
                for point in of:
                    if isinstance(error, LostError) and algorithm.name != DEFAULT:
                        point.visits = []  # an algorithm that hangs or crashes is of no use
                    point.give_up(str(error))
                continue
            for point in of:
                if (result := results.get(point.size)) is None:
                    point.unavailable = f"{program.path.name} does not measure {plural(point.size, 'byte')}"
                    continue
                there = ran.get(point.size, set()) & own
                point.verified = point.verified and (not algorithm.function or there == {algorithm.function})
                point.visits.append([max(result.mean_s, 1e-9)])
                point.spent_s += (time.monotonic() - begun) / len(sizes)
        active = [of for of in active if not all(_has_enough(point, protocol) for point in of)]
        rng.shuffle(active)
    return [point for of in points for point in of]


def _has_enough(point: Point, protocol: Protocol) -> bool:
    return bool(point.unavailable or point.ended or protocol.repetitions) or point.has_enough(protocol)
