"""One route: all message sizes, in a random order in each round."""

import csv
import os
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._core import InputError
from ..conversation import LostError
from ..sampling import Interval, Limits, Series, interval
from .routes import routes_named

FOLDER = "CULMEN_BENCH_FOLDER"  # environment variable: the folder of the results
COLUMNS = ["route", "version", "size", "visit", "repetition", "time_s", "warm_up", "unavailable"]
_SEED = 1


@dataclass
class Sized(Series):
    """The half round trips of messages of one size."""

    size: int = 0


def measure(p: Mapping[str, Any]) -> tuple[float, dict[str, float]]:
    """The evaluator of the study. Its value is the number of sizes whose median is less exact than was asked for."""
    limits = Limits(float(p["interval"]), float(p["budget_s"]), int(p["repetitions"]))
    sizes = [int(word) for word in p["sizes"].split(",")]
    (route,) = routes_named((p["route"],))[:1]
    file = samples_file(route.name)
    try:
        conversation = route.open(int(p["buffer_bytes"]), float(p["timeout_s"]))
        with conversation:
            measured = [Sized(size=size) for size in sizes]
            _measure(conversation.time_messages, measured, limits)
            version = conversation.version
    except LostError as error:
        write_samples(file, route.name, "", [], str(error))
        return 0.0, {"sizes": 0.0, "calls": 0.0}
    write_samples(file, route.name, version, measured, "")
    calls = sum(len(times) for each in measured for times in each.visits)
    return float(sum(not each.is_exact(limits) for each in measured)), {"sizes": len(sizes), "calls": calls}


def _measure(time_messages: Any, measured: list[Sized], limits: Limits) -> None:
    rng = random.Random(_SEED)  # noqa: S311 - an order, no secret
    active = list(measured)
    while active:
        rng.shuffle(active)
        for each in active:
            times = time_messages(each.size, each.next_calls(limits))
            each.visits.append(times)
            each.spent_s += 2 * sum(times)
        active = [each for each in active if not each.has_enough(limits)]


def samples_file(route: str) -> Path:
    return Path(os.environ.get(FOLDER, "."), "samples", f"{route.replace('/', '-')}.csv")


def write_samples(path: Path, route: str, version: str, measured: Iterable[Sized], unavailable: str) -> None:
    """A row for each round trip, or one row that says why there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    with new.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        if unavailable:
            table.writerow([route, *[""] * 6, unavailable])
        for each in measured:
            repetition = 0
            for visit, (times, cold) in enumerate(zip(each.visits, each.cold_visits(), strict=True)):
                for t in times:
                    table.writerow([route, version, each.size, visit, repetition, f"{t:.9g}", int(cold), ""])
                    repetition += 1
    new.replace(path)


class Table:
    """``points``: for each route, the interval of the half round trip at each size. ``unavailable``: why, by route.
    Raises InputError if a file is no such table."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self.points: dict[str, dict[int, Interval]] = {}
        self.versions: dict[str, str] = {}
        self.unavailable: dict[str, str] = {}
        for path in paths:
            self._add(path)

    def _add(self, path: Path) -> None:
        visits: dict[tuple[str, int], dict[str, list[float]]] = {}
        with path.open(newline="", encoding="utf-8") as file:
            table = csv.DictReader(file)
            if table.fieldnames != COLUMNS:
                raise InputError(f"{path} is no table of `culmen bench pingpong`")
            for row in table:
                if row["unavailable"]:
                    self.unavailable[row["route"]] = row["unavailable"]
                    continue
                self.versions[row["route"]] = row["version"]
                if row["warm_up"] == "0":
                    each = visits.setdefault((row["route"], int(row["size"])), {})
                    each.setdefault(row["visit"], []).append(float(row["time_s"]))
        for (route, size), times in sorted(visits.items()):
            self.points.setdefault(route, {})[size] = interval(list(times.values()))


@dataclass(frozen=True)
class Summary:
    """Of a route. ``latency_s``: half round trip of the smallest message. ``rate``: the greatest throughput, bytes/s.
    ``half_size``: the smallest message, in bytes, whose throughput is at least half of that, as in NetPIPE (Q. Snell,
    A. Mikler, J. Gustafson, IASTED 1996)."""

    latency_s: float
    rate: float
    rate_at: int
    half_size: int


def summary_of(points: Mapping[int, Interval]) -> Summary:
    rates = {size: size / found.median for size, found in points.items() if found.median > 0}
    at = max(rates, key=lambda size: rates[size])
    half = min(size for size, rate in rates.items() if rate >= rates[at] / 2)
    return Summary(points[min(points)].median, rates[at], at, half)
