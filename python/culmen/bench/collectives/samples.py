"""The samples of collectives in files: one row for each call. Slow calls stay in the data."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..parts import calls_in, part_named, rows_in, write_part
from ..sampling import LEAST_VISITS, Interval, interval

COLUMNS = [
    "mpi", "version", "collective", "algorithm", "nodes", "ppn", "ranks", "size", "root", "visit", "repetition",
    "time_s", "late", "warm_up", "verified", "unavailable", "partition",
    "mapping",
]  # fmt: skip

NUMBERS = {
    **dict.fromkeys(
        ("nodes", "ppn", "ranks", "size", "root", "visit", "repetition", "late", "warm_up", "verified"), "int64"
    ),
    "time_s": "float64",
}


class Header(NamedTuple):
    """The values that all samples of a file have in common."""

    mpi: str
    version: str
    collective: str
    ranks: int
    nodes: int = 1
    ppn: int = 0  #: the most ranks on a node; 0: all of them
    partition: str = ""  #: of the batch system
    mapping: str = ""  #: of the ranks; empty: the launcher's own


@dataclass
class Samples:
    """The samples of one algorithm with one message size. ``visits``: times in seconds, negative if a rank was late."""

    algorithm: str
    size: int
    visits: list[list[float]]
    warm_up: list[bool]  #: of each visit
    verified: bool  #: it is certain that this algorithm ran
    unavailable: str  #: why there is no sample
    root: int = 0


class Key(NamedTuple):
    """A measured place. ``mpi``: if there are several versions, partitions, mappings or roots, the name contains them.

    Examples: openmpi/4.1.4, openmpi/main or openmpi/root 3.
    """

    mpi: str
    collective: str
    ranks: int
    size: int
    algorithm: str


@dataclass(frozen=True)
class Measured:
    """``interval``: interval of the median time in seconds. ``calls``: number of calls, including the warm-up. ``ppn``:
    the most ranks on a node. ``warm``, ``cold``: the median of each visit by its number, without and in the warm-up. In
    a launch, visits with the same number are of the same round."""

    version: str
    interval: Interval
    calls: int
    verified: bool
    ppn: int
    warm: dict[int, float] = field(default_factory=dict)
    cold: dict[int, float] = field(default_factory=dict)

    def shared_with(self, other: "Measured") -> list[tuple[float, float]]:
        """The medians of both in each round in which neither is in its warm-up. If these are too few for an interval:
        in all rounds that both have."""
        warm = [(self.warm[number], other.warm[number]) for number in self.warm.keys() & other.warm.keys()]
        if len(warm) >= LEAST_VISITS:
            return warm
        own, others = self.warm | self.cold, other.warm | other.cold
        return [(own[number], others[number]) for number in own.keys() & others.keys()]


def samples_file(collective: str, ranks: int, mapping: str = "", folder: Path | None = None) -> Path:
    return part_named("-".join(filter(None, (collective, str(ranks), mapping))), folder)


def write_samples(path: Path, header: Header, points: Iterable[Samples]) -> None:
    """An algorithm that is not available has one row without a time."""
    write_part(path, COLUMNS, (row for point in points for row in _rows(header, point)))


def _rows(header: Header, point: Samples) -> Iterable[list[object]]:
    mpi, version, collective, ranks, nodes, ppn, *last = header
    head = [mpi, version, collective, point.algorithm, nodes, ppn or ranks, ranks, point.size, point.root]
    if point.unavailable:
        yield [*head, *[""] * 6, point.unavailable, *last]
    for visit, repetition, t, cold in calls_in(point.visits, point.warm_up):
        yield [*head, visit, repetition, f"{abs(t):.9g}", int(t < 0), int(cold), int(point.verified), "", *last]


class _At(NamedTuple):
    """The conditions of a measurement that are not in its key."""

    version: str
    partition: str
    mapping: str
    root: int


class _Places:
    """Adds versions, partitions, mappings and roots to the names, if there are several."""

    def __init__(self, found: Iterable[tuple[_At, Key]]) -> None:
        self._versions: dict[str, set[str]] = defaultdict(set)  # of each MPI
        self._partitions: set[str] = set()
        self._mappings: set[str] = set()
        self._roots: dict[str, set[int]] = defaultdict(set)  # of each collective
        for at, key in found:
            self._versions[key.mpi].add(at.version)
            self._partitions.add(at.partition)
            self._mappings.add(at.mapping)
            self._roots[key.collective].add(at.root)

    @property
    def several_partitions(self) -> bool:
        return len(self._partitions) > 1

    def named(self, at: _At, key: Key) -> Key:
        words = [key.mpi]
        if len(self._versions[key.mpi]) > 1 and at.version:
            words.append(at.version.split()[-1])
        if self.several_partitions and at.partition:
            words.append(at.partition)
        if len(self._mappings) > 1 and at.mapping:
            words.append(at.mapping)
        if len(self._roots[key.collective]) > 1:
            words.append(f"root {at.root}")
        return key._replace(mpi="/".join(words))


def _medians(visits: dict[int, list[float]]) -> dict[int, float]:
    return {number: float(np.median(times)) for number, times in visits.items()}


class Table:
    """The samples of several files. ``several_partitions``: whether they are of several partitions. Raises InputError
    if a file has no such samples."""

    def __init__(self, paths: Iterable[Path]) -> None:
        visits: dict[tuple[_At, Key], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        warming: dict[tuple[_At, Key], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        calls: dict[tuple[_At, Key], int] = defaultdict(int)
        about: dict[tuple[_At, Key], tuple[str, bool, int]] = {}
        unavailable: dict[tuple[_At, Key], str] = {}
        for row in rows_in(paths, COLUMNS, "culmen bench collectives", NUMBERS):
            at = _At(row["version"], row["partition"], row["mapping"], int(row["root"]))
            key = at, Key(row["mpi"], row["collective"], int(row["ranks"]), int(row["size"]), row["algorithm"])
            if row["unavailable"]:
                unavailable[key] = row["unavailable"]
                continue
            calls[key] += 1
            about[key] = row["version"], row["verified"] == "1", int(row["ppn"])
            if row["late"] == "0":
                of = visits if row["warm_up"] == "0" else warming
                of[key][int(row["visit"])].append(float(row["time_s"]))
        places = _Places([*about, *unavailable])
        self.several_partitions = places.several_partitions
        self.points = {}
        for key, times in visits.items():
            version, verified, ppn = about[key]
            medians = _medians(times), _medians(warming.get(key, {}))
            found = Measured(version, interval(list(times.values())), calls[key], verified, ppn, *medians)
            self.points[places.named(*key)] = found
        self.unavailable = {places.named(*key): why for key, why in unavailable.items()}

    def places(self) -> list[tuple[str, str, int, int]]:
        """All (mpi, collective, ranks, size), in this order."""
        return sorted({key[:4] for key in self.points})

    def algorithms(self, place: tuple[str, str, int, int]) -> dict[str, Measured]:
        """The algorithms that were measured there, the fastest first."""
        there = {key.algorithm: found for key, found in self.points.items() if key[:4] == place}
        return dict(sorted(there.items(), key=lambda pair: pair[1].interval.median))
