"""The promises of `culmen bench collectives`: rankings that repeat, and less time than a fixed number of calls. The
peer is the same program with 1000 calls of each point."""

import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from culmen.bench.collectives.measured import measure_points, points_of
from culmen.bench.collectives.points import Point, Protocol
from culmen.bench.session import Ranks
from culmen.launch.mpi import find_launcher
from measure import Bench, Load, Row, Spread, foreign, mpis_here, spread

RANKS, COLLECTIVES, SIZES = 2, ("bcast", "allreduce"), (8, 1024, 65536, 1 << 20)
CALLS = 1000
TIMEOUT_S = 60.0
LONGEST_S = 20.0  # of a point, so that the interval decides


def ranking(bench: Bench) -> Iterator[Row]:
    for mpi, launcher in mpis_here():
        title = launcher.mpi.title
        results = [_repetition(bench, mpi, seed) for seed in range(bench.repeat)]
        yield Row(
            f"Ranking of algorithms in two sessions, {title}: Kendall's τ of pairs whose intervals do not overlap",
            "pairs",
            spread(results, "pairs"),
            ratio=spread(results, "tau"),
            at_least=0.9,
            foreign=foreign(results),
        )
        fixed = spread(results, "fixed_s")
        for which, target in (("90th percentile", 2.0), ("median", None)):
            adaptive = spread(results, which)
            yield Row(
                f"Time to measure, {title}, until all intervals are as short as the {which} of the peer",
                "s",
                adaptive,
                fixed,
                f"{CALLS} calls of each point",
                fixed.over(adaptive),
                at_least=target,
                foreign=foreign(results),
            )


def _repetition(bench: Bench, mpi: str, seed: int) -> dict:
    load = Load()
    fixed, fixed_s = _session(mpi, Protocol(repetitions=CALLS, timeout_s=TIMEOUT_S), seed)
    widths = Spread([point.interval.relative for point in fixed])
    one, median_s = _session(mpi, Protocol(widths.median, LONGEST_S, timeout_s=TIMEOUT_S), seed + 1)
    two, _ = _session(mpi, Protocol(widths.median, LONGEST_S, timeout_s=TIMEOUT_S), seed + 2)
    most = sorted(widths.values)[len(widths.values) * 9 // 10]
    _, most_s = _session(mpi, Protocol(most, LONGEST_S, timeout_s=TIMEOUT_S), seed + 3)
    agree, differ = _pairs(one, two)
    result = {"pairs": agree + differ, "tau": (agree - differ) / max(1, agree + differ), "widths": widths.text()}
    result |= {"median": median_s, "90th percentile": most_s, "fixed_s": fixed_s, "foreign": load.foreign_share()}
    bench.say(f"{mpi} {seed + 1}: {result}")
    return result


def _session(mpi: str, protocol: Protocol, seed: int) -> tuple[list[Point], float]:
    """The points that were measured, and the seconds without the launch."""
    launcher, points, seconds = find_launcher(mpi), [], 0.0
    assert launcher.mpi.collectives is not None
    for collective in COLLECTIVES:
        with Ranks(launcher, RANKS, protocol.timeout_s) as ranks:
            ranks.session.check(collective, 0, SIZES[0], 0)
            begun = time.monotonic()
            algorithms = launcher.mpi.collectives.algorithms(collective, RANKS)
            there = points_of(collective, algorithms, SIZES)
            measure_points(ranks, collective, there, protocol, seed)
            points += there
            seconds += time.monotonic() - begun
    return [point for point in points if point.visits], seconds


def _pairs(one: list[Point], two: list[Point]) -> tuple[int, int]:
    """Pairs of algorithms with the same size that have the same order in both sessions, and those that have not. Only
    pairs whose intervals do not overlap in the first session count."""
    again = {_key(point): point.interval.median for point in two}
    places: dict[tuple[str, int], list[Point]] = defaultdict(list)
    for point in one:
        if _key(point) in again:
            places[next(iter(point.algorithm.variables)), point.size].append(point)
    agree = differ = 0
    for points in places.values():
        for a, b in combinations(points, 2):
            if a.interval.overlaps(b.interval):
                continue
            same = (a.interval.median < b.interval.median) == (again[_key(a)] < again[_key(b)])
            agree, differ = agree + same, differ + (not same)
    return agree, differ


def _key(point: Point) -> tuple[str, str, int]:
    return point.algorithm.name, str(point.algorithm.variables), point.size
