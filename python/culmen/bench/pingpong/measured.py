"""One route: all message sizes, in a random order in each round."""

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ...base.text import enumerated
from ...launch.allocation import partition
from ..conversation import LostError, RefusedError
from ..parts import calls_in, part_named, rows_in, write_part
from ..sampling import Interval, Limits, Series, interval
from ..words import short_size
from .routes import route_named
from .sockets import interface_in

COLUMNS = [
    "route", "version", "size", "visit", "repetition", "time_s", "warm_up", "unavailable", "nodes", "ppn", "partition",
]  # fmt: skip

NUMBERS = {
    **dict.fromkeys(("size", "visit", "repetition", "warm_up", "nodes", "ppn"), "int64"),
    "time_s": "float64",
}


@dataclass
class Sized(Series):
    """The half round trips of messages of one size."""

    size: int = 0


class Header(NamedTuple):
    """The values that all samples of a file have in common. ``nodes``: 2 if the processes are on two machines."""

    route: str
    version: str
    nodes: int | str = ""  #: empty if that is not known
    ppn: int | str = ""
    partition: str = ""


def measure(p: Mapping[str, Any]) -> tuple[float, dict[str, float]]:
    """The evaluator of the study. Its value is the number of sizes whose median is less exact than requested."""
    limits = Limits(float(p["interval"]), float(p["budget_s"]), int(p["repetitions"]))
    sizes = [int(word) for word in p["sizes"].split(",")]
    route = route_named(p["route"])
    file = samples_file(route.name)
    measured = [Sized(size=size) for size in sizes]
    header, ended = Header(route.name, "", partition=partition()), ""
    try:
        conversation = route.open(int(p["buffer_bytes"]), float(p["timeout_s"]))
        with conversation:
            header = Header(route.name, conversation.version, *conversation.nodes(), partition())
            ended = _measure(conversation.time_messages, measured, limits)
    except (LostError, RefusedError) as error:
        ended = str(error)
    if ended:
        measured = [each for each in measured if each.visits]
        measured = measured if len(measured) > 1 else []  # a line has two points
    write_samples(file, header, measured, ended)
    calls = sum(len(times) for each in measured for times in each.visits)
    return float(sum(not each.is_exact(limits) for each in measured)), {"sizes": len(measured), "calls": calls}


def _measure(time_messages: Any, measured: list[Sized], limits: Limits) -> str:
    """Returns why sizes cannot be measured; empty if all were."""
    rng = random.SystemRandom()
    active, refused = list(measured), dict[int, str]()
    while active:
        rng.shuffle(active)
        for each in active:
            try:
                times = time_messages(each.size, each.next_calls(limits))
            except RefusedError as error:
                refused[each.size] = str(error)
                continue
            each.visits.append(times)
            each.spent_s += 2 * sum(times)
        active = [each for each in active if each.size not in refused and not each.has_enough(limits)]
    sizes = enumerated([short_size(size) for size in sorted(refused)])
    return f"messages of {sizes}: {next(iter(refused.values()))}" if refused else ""


def samples_file(route: str, folder: Path | None = None) -> Path:
    return part_named(route.replace("/", "-"), folder)


def write_samples(path: Path, header: Header, measured: Iterable[Sized], unavailable: str) -> None:
    """A row for each round trip, or one row that says why there is none."""
    write_part(path, COLUMNS, _rows(header, measured, unavailable))


def _rows(header: Header, measured: Iterable[Sized], unavailable: str) -> Iterator[list[object]]:
    where = [header.nodes, header.ppn, header.partition]
    if unavailable:
        yield [header.route, *[""] * 6, unavailable, *where]
    for each in measured:
        for visit, repetition, t, cold in calls_in(each.visits, each.cold_visits()):
            yield [header.route, header.version, each.size, visit, repetition, f"{t:.9g}", int(cold), "", *where]


class Table:
    """``points``: for each route, the interval of the half round trip at each size. ``unavailable``: why a route has no
    times. ``nodes``: number of nodes of each route. ``interfaces``: the network interface of each route that names one,
    such as openmpi/raw-tcp. With several partitions, a route has the name of its partition,
    too: raw/tcp@main. Raises InputError if a file is no such table."""

    def __init__(self, paths: Iterable[Path]) -> None:
        visits: dict[str, dict[int, dict[str, list[float]]]] = {}
        unavailable: dict[str, str] = {}
        nodes: dict[str, int] = {}
        interfaces: dict[str, str] = {}
        for row in rows_in(paths, COLUMNS, "culmen bench pingpong", NUMBERS):
            route = f"{row['route']}@{row['partition']}"
            nodes[route] = int(row["nodes"] or 1)
            if interface := interface_in(row["version"]):
                interfaces[route] = interface
            if row["unavailable"]:
                unavailable[route] = row["unavailable"]
            elif row["warm_up"] == "0":
                each = visits.setdefault(route, {}).setdefault(int(row["size"]), {})
                each.setdefault(row["visit"], []).append(float(row["time_s"]))
        several = len({route.rpartition("@")[2] for route in nodes}) > 1
        names = {route: route.removesuffix("@") if several else route.rpartition("@")[0] for route in nodes}
        self.nodes = {names[route]: number for route, number in nodes.items()}
        self.interfaces = {names[route]: name for route, name in interfaces.items()}
        self.unavailable = {names[route]: why for route, why in unavailable.items()}
        self.points: dict[str, dict[int, Interval]] = {
            names[route]: {size: interval(list(times.values())) for size, times in sorted(sizes.items())}
            for route, sizes in visits.items()
        }


@dataclass(frozen=True)
class Summary:
    """The summary of a route. ``latency_s``: half round trip of the smallest message. ``rate``: the greatest
    throughput, bytes/s. ``half_size``: the smallest message, in bytes, whose throughput is at least half of that, as in
    NetPIPE (Q. Snell, A. Mikler, J. Gustafson, IASTED 1996)."""

    latency_s: float
    rate: float
    rate_at: int
    half_size: int


def summary_of(points: Mapping[int, Interval]) -> Summary:
    rates = {size: size / found.median for size, found in points.items() if found.median > 0}
    at = max(rates, key=lambda size: rates[size])
    half = min(size for size, rate in rates.items() if rate >= rates[at] / 2)
    return Summary(points[min(points)].median, rates[at], at, half)
