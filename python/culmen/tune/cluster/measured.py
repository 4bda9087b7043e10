"""The evaluator of ``culmen tune cluster``. A point of its study is one launch of one collective with one number of
ranks. The launch is a race of all algorithms, or a comparison of the fastest ones with the MPI's own choice."""

import json
import random
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from ...bench.collectives.measured import as_samples, measure_points, points_of
from ...bench.collectives.points import Point, Protocol
from ...bench.collectives.samples import Header, write_samples
from ...bench.conversation import LostError
from ...bench.parts import part_named
from ...bench.session import Ranks
from ...bench.splits import split_of
from ...launch.allocation import partition
from ...launch.mpi import find_launcher
from ...launch.mpi.collectives import DEFAULT, Algorithm, Collectives
from ..rules.made import one_for_all_sizes
from .learnt import learnt_file, read_learnt
from .pairs import LEAST_GAIN, next_pairs
from .predicted import slow_ones
from .race import Race
from .visits import times_faster, visits_of

RACE = 0  # launch number of the race; the comparisons have the numbers after it
# Largest number of calls of a visit. For the same number of calls, many short visits tell more than a few long ones.
MOST_CALLS = 16
_MOST_CANDIDATES = 2  # of a search, at each size
SLOW = "it is predicted to be slow"
_WRONG = "a result is wrong"  # as src/mpibench/main.c says it


def file_of(collective: str, ranks: int, launch: int, folder: Path | None = None) -> Path:
    """The file with the samples of a launch."""
    return part_named(f"{collective}-{ranks}-{launch or 'race'}", folder)


def measure(p: Mapping[str, Any]) -> tuple[float, dict[str, float]]:
    """Measures one launch. The value is the number of points that were not measured."""
    collective, ranks, launch = p["collective"], int(p["ranks"]), int(p["launch"])
    for path in (file_of(collective, ranks, launch), *([learnt_file(collective, ranks)] if launch == RACE else [])):
        path.unlink(missing_ok=True)  # from an earlier measurement with other options
    launcher = find_launcher(None if p["mpi"] == "default" else p["mpi"])
    known = launcher.mpi.collectives
    assert known is not None
    protocol = Protocol(float(p["interval"]), float(p["budget_s"]), 0, float(p["timeout_s"]), most_calls=MOST_CALLS)
    allowed = bool(p["same_types"]), bool(p["commutative"])
    algorithms = known.safe_algorithms(collective, ranks, *allowed)
    algorithms += known.variants(collective, ranks, *allowed)
    sizes = [int(word) for word in p["sizes"].split(",")] if collective != "barrier" else [0]
    if launch == RACE:
        earlier = [part_named(f"{name}-race") for name in p.get("earlier", "").split()]
        points, slow = without_slow(points_with_parts(collective, algorithms, sizes, ranks), collective, ranks, earlier)
        order = None
    else:
        if not was_searched(collective, ranks):
            raise LostError("its search failed")  # so that it is measured again together with the search
        proposed = _proposed(collective, ranks, known)
        points, slow, order = _finalists(collective, algorithms, proposed), [], next_pairs
    begun, seed = time.monotonic(), random.SystemRandom().getrandbits(32)
    if not points:
        return 0.0, {"points": 0, "calls": 0, "unmeasured": 0, "seconds": 0.0}
    environment = known.without_rules | json.loads(p.get("variables", "{}"))
    split = split_of(p.get("split", ""))
    launch_of, mapping = (split.ranks, split.mapping) if split else (ranks, p.get("mapping", ""))
    with Ranks(launcher, launch_of, protocol.timeout_s, mapping, environment, split) as launched:
        measure_points(launched, collective, points, protocol, seed, order or Race(points))
        version, nodes = launched.version, launched.nodes
    if all(point.ended for point in points) and not any(point.visits for point in points):
        raise LostError(points[0].unavailable)
    leave_out_lost(points, known.refuses)
    header = Header(launcher.mpi.name, version, collective, ranks, *nodes, partition())
    write_samples(file_of(collective, ranks, launch), header, _kept([*points, *slow], collective, known))
    figures = {
        "points": len(points),
        "calls": sum(len(times) for point in points for times in point.visits),
        "unmeasured": sum(not point.visits for point in points),
        "seconds": time.monotonic() - begun,
    }
    return float(figures["unmeasured"]), figures


def was_searched(collective: str, ranks: int, folder: Path | None = None) -> bool:
    """Whether there was a race, or a search with the tuner of ``culmen autotune``."""
    return any(
        path.exists() for path in (file_of(collective, ranks, RACE, folder), learnt_file(collective, ranks, folder))
    )


def _proposed(collective: str, ranks: int, known: Collectives) -> dict[int, list[str]]:
    """The rivals of the MPI's own choice at each message size."""
    race = file_of(collective, ranks, RACE)
    if not race.exists():
        return read_learnt(learnt_file(collective, ranks)).proposals(_MOST_CANDIDATES)
    return candidates_for_all(race) if one_for_all_sizes(collective, known) else candidates(race)


def points_with_parts(
    collective: str, algorithms: Sequence[Algorithm], sizes: Sequence[int], ranks: int
) -> list[Point]:
    """All points, except those whose messages have too few segments for their algorithm."""
    points = points_of(collective, algorithms, sizes)
    least = {"segmented_ring": ranks, "split_binary_tree": 2}  # segments; otherwise another algorithm runs
    return [
        each
        for each in points
        if not each.algorithm.segment or each.size > each.algorithm.segment * least.get(each.algorithm.base, 1)
    ]


def without_slow(
    points: Sequence[Point], collective: str, ranks: int, earlier: Iterable[Path]
) -> tuple[list[Point], list[Point]]:
    """The points to measure, and those that are predicted to be slow. ``earlier``: see slow_ones()."""
    slow = slow_ones({(point.algorithm.name, point.size) for point in points}, collective, ranks, earlier)
    left_out = [point for point in points if (point.algorithm.name, point.size) in slow]
    for point in left_out:
        point.unavailable = SLOW
    return [point for point in points if not point.unavailable], left_out


def candidates(race: Path) -> dict[int, list[str]]:
    """For each message size of a race, the algorithms that may be faster than the MPI's own choice. There can be
    several, because another algorithm may be the fastest in another launch."""
    if not race.exists():
        return {}
    visits = visits_of(race)
    gains: dict[int, dict[str, float]] = defaultdict(dict)
    for size, name in visits.medians:
        pairs = visits.pairs(size, name) if name != DEFAULT else []
        if pairs and (gain := times_faster(pairs)) >= LEAST_GAIN:
            gains[size][name] = gain
    return {
        size: sorted(there, key=there.__getitem__, reverse=True)[:_MOST_CANDIDATES]
        for size, there in sorted(gains.items())
    }


def candidates_for_all(race: Path) -> dict[int, list[str]]:
    """The same for a collective with one choice for all message sizes: algorithms that may be faster on average over
    the sizes."""
    if not race.exists():
        return {}
    visits = visits_of(race)
    sizes = sorted(size for size, name in visits.medians if name == DEFAULT)
    gains: dict[str, float] = {}
    for name in {name for _, name in visits.medians} - {DEFAULT}:
        of_sizes = [visits.pairs(size, name) for size in sizes]
        if sizes and all(of_sizes):
            gains[name] = geometric_mean(map(times_faster, of_sizes))
    fastest = sorted((name for name in gains if gains[name] >= LEAST_GAIN), key=gains.__getitem__, reverse=True)
    return dict.fromkeys(sizes, fastest[:_MOST_CANDIDATES]) if fastest else {}


def _finalists(collective: str, algorithms: Sequence[Algorithm], chosen: Mapping[int, Sequence[str]]) -> list[Point]:
    """The MPI's own choice and its rivals at each size."""
    by_name = {one.name: one for one in algorithms}
    out = []
    for size, names in chosen.items():
        if rivals := [by_name[name] for name in names if name in by_name]:
            out += points_of(collective, [by_name[DEFAULT], *rivals], [size])
    return out


def leave_out_lost(points: Sequence[Point], refuses: bool) -> None:
    """Removes the samples of lost algorithms. If ranks ended or hung, or if a result was wrong, the algorithm is not
    used at any size. If the MPI only refused the algorithm, it is not used at this size. ``refuses``: see
    Collectives."""
    all_ended = all(point.ended for point in points)
    lost = {
        point.algorithm.base: point.unavailable or "a call failed"
        for point in points
        if (point.unavailable and not (refuses and _is_refused(point))) or (point.ended and not all_ended)
    }
    lost.pop(DEFAULT, None)
    for point in points:
        if point.algorithm.base in lost:
            point.visits, point.unavailable = [], lost[point.algorithm.base]


def _is_refused(point: Point) -> bool:
    return not point.ended and point.unavailable not in ("", _WRONG)


def _kept(points: Sequence[Point], collective: str, known: Collectives) -> list[Any]:
    """The samples of all points that were started."""
    return [as_samples(point, collective, known.refuses) for point in points if point.visits or point.unavailable]
