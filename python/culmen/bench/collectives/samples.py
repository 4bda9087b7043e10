"""The samples of collectives in files: one row for each call. Slow calls stay in the data."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..parts import calls_in, part_named, rows_in, write_part
from ..sampling import Interval, interval

COLUMNS = [
    "mpi", "version", "collective", "algorithm", "nodes", "ppn", "ranks", "size", "root", "visit", "repetition",
    "time_s", "late", "warm_up", "verified", "unavailable", "partition",
]  # fmt: skip
_AT = "\0"  # between an MPI and its partition


class Header(NamedTuple):
    """What all samples of a file have in common."""

    mpi: str
    version: str
    collective: str
    ranks: int
    root: int
    nodes: int = 1
    ppn: int = 0  #: the most ranks on a node; 0: all of them
    partition: str = ""  #: of the batch system


@dataclass
class Samples:
    """Of one algorithm with one message size. ``visits``: times in seconds, negative if a rank was late."""

    algorithm: str
    size: int
    visits: list[list[float]]
    warm_up: list[bool]  #: of each visit
    verified: bool  #: the algorithm is known to have run
    unavailable: str  #: why there is no sample


class Key(NamedTuple):
    """What was measured."""

    mpi: str
    collective: str
    ranks: int
    size: int
    algorithm: str


@dataclass(frozen=True)
class Measured:
    """``interval``: of the median time, in seconds. ``calls``: with those of the warm-up."""

    version: str
    interval: Interval
    calls: int
    verified: bool


def samples_file(collective: str, ranks: int, folder: Path | None = None) -> Path:
    return part_named(f"{collective}-{ranks}", folder)


def write_samples(path: Path, header: Header, points: Iterable[Samples]) -> None:
    """An algorithm that is not available has one row without a time."""
    write_part(path, COLUMNS, (row for point in points for row in _rows(header, point)))


def _rows(header: Header, point: Samples) -> Iterable[list[object]]:
    mpi, version, collective, ranks, root, nodes, ppn, partition = header
    head = [mpi, version, collective, point.algorithm, nodes, ppn or ranks, ranks, point.size, root]
    if point.unavailable:
        yield [*head, *[""] * 6, point.unavailable, partition]
    for visit, repetition, t, cold in calls_in(point.visits, point.warm_up):
        yield [*head, visit, repetition, f"{abs(t):.9g}", int(t < 0), int(cold), int(point.verified), "", partition]


def _named(key: Key, several: bool) -> Key:
    """``several``: partitions, which are then part of the name."""
    mpi, _, partition = key.mpi.partition(_AT)
    return key._replace(mpi=f"{mpi}/{partition}" if several and partition else mpi)


class Table:
    """The samples of several files. With several partitions, ``mpi`` is the MPI and its partition: openmpi/main.
    Raises InputError if one is no such file."""

    def __init__(self, paths: Iterable[Path]) -> None:
        visits: dict[Key, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        calls: dict[Key, int] = defaultdict(int)
        about: dict[Key, tuple[str, bool]] = {}
        self.unavailable: dict[Key, str] = {}
        for row in rows_in(paths, COLUMNS, "culmen bench collectives"):
            place = f"{row['mpi']}{_AT}{row['partition']}"
            key = Key(place, row["collective"], int(row["ranks"]), int(row["size"]), row["algorithm"])
            if row["unavailable"]:
                self.unavailable[key] = row["unavailable"]
                continue
            calls[key] += 1
            about[key] = row["version"], row["verified"] == "1"
            if row["late"] == "0" and row["warm_up"] == "0":
                visits[key][int(row["visit"])].append(float(row["time_s"]))
        several = len({key.mpi.partition(_AT)[2] for key in [*about, *self.unavailable]}) > 1
        self.points = {
            _named(key, several): Measured(about[key][0], interval(list(times.values())), calls[key], about[key][1])
            for key, times in visits.items()
        }
        self.unavailable = {_named(key, several): why for key, why in self.unavailable.items()}

    def places(self) -> list[tuple[str, str, int, int]]:
        """All (mpi, collective, ranks, size), in this order."""
        return sorted({key[:4] for key in self.points})

    def algorithms(self, place: tuple[str, str, int, int]) -> dict[str, Measured]:
        """Those measured there, the fastest first."""
        there = {key.algorithm: found for key, found in self.points.items() if key[:4] == place}
        return dict(sorted(there.items(), key=lambda pair: pair[1].interval.median))
