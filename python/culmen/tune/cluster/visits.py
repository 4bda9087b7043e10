"""The visits of a launch. Each round visits all algorithms that are still measured, one after the other."""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from ...bench.collectives.samples import COLUMNS
from ...bench.parts import rows_in
from ...launch.mpi.collectives import DEFAULT

Where = tuple[int, str]  # message size and algorithm


@dataclass
class Visits:
    """``medians``: for each round, the median time in seconds of the calls that count. ``unavailable``: why an
    algorithm was not measured."""

    medians: dict[Where, dict[int, float]] = field(default_factory=dict)
    unavailable: dict[Where, str] = field(default_factory=dict)
    calls: int = 0

    def pairs(self, size: int, name: str) -> list[tuple[float, float]]:
        """Times of the MPI's own choice and of the algorithm in the same rounds, without the first round, which is a
        warm-up."""
        default, own = self.medians.get((size, DEFAULT), {}), self.medians.get((size, name), {})
        return [(default[k], own[k]) for k in sorted(set(own) & set(default))[1:]]


def visits_of(path: Path) -> Visits:
    """The visits in a file with the samples of a launch."""
    out = Visits()
    times: dict[Where, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows_in([path], COLUMNS, "culmen tune cluster"):
        where = int(row["size"]), row["algorithm"]
        if row["unavailable"]:
            out.unavailable[where] = row["unavailable"]
            continue
        out.calls += 1
        if row["late"] == "0" and row["verified"] == "1":
            times[where][int(row["visit"])].append(float(row["time_s"]))
    out.medians = {where: {k: median(calls) for k, calls in rounds.items()} for where, rounds in times.items()}
    return out


def times_faster(pairs: Iterable[tuple[float, float]]) -> float:
    """The median of the ratios. Each pair is from the same round, because a whole round can be slower than another."""
    return math.exp(median(math.log(own / other) for own, other in pairs))
