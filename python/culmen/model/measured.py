"""Measured times as models need them: series over the message size or the number of ranks, and single messages."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .._core import InputError
from ..bench.cells import first_line_of
from ..bench.collectives import environment
from ..bench.collectives.samples import COLUMNS, Measured, Table
from ..bench.parts import is_head, rows_in
from ..bench.pingpong.measured import COLUMNS as ROUTES
from ..bench.pingpong.measured import NUMBERS
from .algorithms import model_of
from .point_to_point import Network, network

LATENCIES = ["mapping", "size", "time_s"]  # columns of a table of single messages
_NUMBERS = {"size": "int64", "time_s": "float64"}


class Place(NamedTuple):
    ranks: int
    size: int  #: bytes


class Series(NamedTuple):
    """``x``: message sizes in bytes, or numbers of ranks, ascending. ``y``: median times in seconds."""

    mpi: str
    collective: str
    algorithm: str
    over: str  #: "size" or "ranks"
    at: int  #: the other one of both
    x: list[float]
    y: list[float]


def _median(point: Measured) -> float:
    return point.interval.median


class Times:
    """The times of a table, in seconds: by default the medians. Points where another algorithm ran are left out, and
    those whose time is 0.

    ``of``: by (mpi, collective), then by algorithm, then by place. ``ppn``: the most ranks on a node, by (mpi,
    collective, ranks).
    """

    def __init__(self, table: Table, time_of: Callable[[Measured], float] = _median) -> None:
        self.of: dict[tuple[str, str], dict[str, dict[Place, float]]] = {}
        self.ppn: dict[tuple[str, str, int], int] = {}
        self.unverified = 0
        for key, point in sorted(table.points.items()):
            if not point.verified:
                self.unverified += 1
            elif (time_s := time_of(point)) > 0:
                there = self.of.setdefault((key.mpi, key.collective), {}).setdefault(key.algorithm, {})
                there[Place(key.ranks, key.size)] = time_s
                self.ppn[key.mpi, key.collective, key.ranks] = point.ppn

    def series(self) -> Iterator[Series]:
        """Each with at least two points."""
        for (mpi, collective), algorithms in self.of.items():
            for algorithm, places in algorithms.items():
                for over in ("size", "ranks"):
                    for at, points in _lines(places, over).items():
                        if len(points) > 1:
                            x = sorted(points)
                            yield Series(mpi, collective, algorithm, over, at, x, [points[each] for each in x])

    def messages(self, mpi: str, collective: str = "bcast") -> dict[int, float]:
        """Seconds for each message size: the median of all algorithms that send a single message between two ranks."""
        found: dict[int, list[float]] = defaultdict(list)
        for name, places in self.of.get((mpi, collective), {}).items():
            model = model_of(collective, name)
            for place, t in places.items():
                if place.ranks == 2 and model is not None and model(*place).messages == ((1, place.size),):
                    found[place.size].append(t)
        return {size: float(np.median(times)) for size, times in sorted(found.items())} if len(found) > 1 else {}

    def network(self, mpi: str) -> Network | None:
        """None: broadcasts between two ranks were not measured with several sizes."""
        sends = self.messages(mpi)
        return network(sends, self.messages(mpi, "reduce")) if sends else None


def _lines(places: dict[Place, float], over: str) -> dict[int, dict[float, float]]:
    out: dict[int, dict[float, float]] = defaultdict(dict)
    for place, t in places.items():
        x, at = (place.size, place.ranks) if over == "size" else (place.ranks, place.size)
        out[at][float(x)] = t
    return dict(sorted(out.items()))


def read_times(path: Path) -> Times:
    """Raises InputError if the file is no table of collectives, or has no time that counts."""
    try:
        times = Times(Table([path]))
    except InputError:
        if not path.exists():
            raise InputError(
                f"there is no {path}; `culmen bench collectives` writes it, or give the path of another table"
            ) from None
        raise
    if not times.of:
        why = f"all {times.unverified} points are unverified" if times.unverified else "it has no times"
        raise InputError(f"{path}: {why}; measure again with `culmen bench collectives`")
    return times


def is_latencies(path: Path) -> bool:
    """Whether the file is a table of single messages. Raises InputError if it cannot be read, or is neither kind."""
    head = list(first_line_of(path))
    if head != LATENCIES and not is_head(head, ROUTES) and not is_head(head, COLUMNS):
        raise InputError(
            f"{path} is neither a table of `culmen bench collectives` nor one with the columns {','.join(LATENCIES)}"
        )
    return not is_head(head, COLUMNS)


def read_latencies(path: Path) -> dict[str, dict[int, float]]:
    """For each mapping: the median time of a message in seconds, for each size in bytes. Raises InputError.

    In a table of `culmen bench pingpong`, each route is a mapping.
    """
    if not is_latencies(path):
        raise InputError(f"{path} has not the columns {','.join(LATENCIES)}")
    found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    columns, numbers = (LATENCIES, _NUMBERS) if list(first_line_of(path)) == LATENCIES else (ROUTES, NUMBERS)
    for row in rows_in([path], columns, "culmen bench pingpong", numbers):
        if row.get("unavailable") or row.get("warm_up") == "1":
            continue
        if not (time_s := float(row["time_s"])) > 0:
            raise InputError(f"{path}: time_s must be a positive number of seconds, but one is {row['time_s']}")
        found[_name_of(row)][int(row["size"])].append(time_s)
    few = [mapping for mapping, times in found.items() if len(times) < 2]
    if few or not found:
        raise InputError(f"{path}: a model needs at least two sizes" + (f" of the mapping '{few[0]}'" if few else ""))
    return {mapping: {m: float(np.median(t)) for m, t in sorted(times.items())} for mapping, times in found.items()}


def _name_of(row: dict[str, str]) -> str:
    """Of the network between the two ranks: partitions have networks of their own."""
    return row.get("mapping") or "@".join(filter(None, (row["route"], row.get("partition"))))


def cores_beside(path: Path) -> int | None:
    """The number of cores of the machine that was measured, as the description beside the table says."""
    cores = environment.read(path.parent).get("cores")
    return cores if isinstance(cores, int) else None


def socket_beside(path: Path) -> int | None:
    """The same for the number of cores of a socket. None also if the sockets have different numbers."""
    sockets = environment.read(path.parent).get("cores_of_sockets")
    if not isinstance(sockets, list) or len(set(map(str, sockets))) != 1:
        return None
    return sockets[0] if isinstance(sockets[0], int) and sockets[0] > 0 else None
