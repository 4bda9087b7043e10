"""The measurements as a table: CSV, and the means over the repetitions with their errors."""

import csv
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ..._core import InputError
from .point import Point, PointMeasured


@dataclass(frozen=True)
class Row:
    """One point of one repetition."""

    point: Point
    cost: str
    measured: PointMeasured


class Value(NamedTuple):
    """A mean over repetitions. ``error``: its standard error; 0 with one repetition, because it is then unknown."""

    mean: float
    error: float = 0.0

    @classmethod
    def of(cls, values: Sequence[float]) -> "Value":
        error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
        return cls(statistics.fmean(values), error)

    def over(self, other: "Value") -> "Value":
        """The quotient. The errors are independent."""
        quotient = self.mean / other.mean
        return Value(quotient, abs(quotient) * math.hypot(self.error / self.mean, other.error / other.mean))

    def minus(self, number: float) -> "Value":
        return Value(self.mean - number, self.error)


class Rows:
    """All rows of a file. A point without its repetition is the key of a mean."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)

    @cached_property
    def _groups(self) -> dict[Point, list[Row]]:
        groups: dict[Point, list[Row]] = defaultdict(list)
        for row in self.rows:
            groups[replace(row.point, repetition=0)].append(row)
        return dict(groups)

    @property
    def points(self) -> list[Point]:
        """All points that were measured, without repetition, in a stable order."""
        return sorted(self._groups, key=lambda p: (p.transport, p.evaluation_s, p.prefetch, p.io_threads, p.workers))

    def has(self, point: Point) -> bool:
        return _key(point) in self._groups

    def _mean(self, point: Point, value: Callable[[Row], float]) -> Value:
        return Value.of([value(row) for row in self._groups[_key(point)]])

    def time_of_item(self, point: Point) -> Value:
        """Seconds for each item in the steady state."""
        return self._mean(point, lambda row: row.measured.steady_s / row.measured.items)

    def efficiency(self, point: Point) -> Value:
        """In the steady state: items × measured duration of a lone evaluation / (workers × time)."""
        return self._mean(point, lambda row: row.measured.efficiency(row.point.workers))

    def speed_up(self, point: Point) -> Value | None:
        """One worker's time for an item / the time for an item. None if there is no measurement with one worker."""
        alone = replace(point, workers=1)
        if not self.has(alone):
            return None
        return Value(1.0) if point.workers == 1 else self.time_of_item(alone).over(self.time_of_item(point))

    def efficiency_of_run(self, point: Point) -> Value | None:
        """One worker's time for all evaluations / (workers × time of the whole run, with the start and the end of the
        workers). None if there is no measurement with one worker, or none of the whole run."""
        alone = replace(point, workers=1)
        if not self.has(alone) or any(row.measured.whole_s <= 0 for row in self._groups[_key(point)]):
            return None
        return self.time_of_item(alone).over(self._mean(point, _workers_s))

    def efficiency_of_one_run(self, row: Row) -> float | None:
        """The same for one repetition."""
        alone = replace(row.point, workers=1)
        if not self.has(alone) or row.measured.whole_s <= 0:
            return None
        return self.time_of_item(alone).mean / _workers_s(row)

    def gain(self, point: Point, reference: Point) -> Value | None:
        """Time of the reference / time of the point − 1, for an item in the steady state."""
        if not self.has(point) or not self.has(reference):
            return None
        return self.time_of_item(reference).over(self.time_of_item(point)).minus(1)


def _workers_s(row: Row) -> float:
    """Time of all workers for each evaluation of the whole run."""
    return row.point.workers * row.measured.whole_s / row.measured.evaluations


def _key(point: Point) -> Point:
    return replace(point, repetition=0)


def difference(a: Rows, b: Rows, point: Point) -> Value:
    """The difference of the time for an item between two machines, as a share of the time in ``a``."""
    return b.time_of_item(point).over(a.time_of_item(point)).minus(1)


_POINT = [field.name for field in fields(Point)]
_MEASURED = [field.name for field in fields(PointMeasured)]
COLUMNS = [*_POINT, "cost", *_MEASURED, "rate", "efficiency", "efficiency_of_run"]


def write_csv(rows: Rows, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for row in rows.rows:
            derived = {
                "rate": row.measured.rate,
                "efficiency": row.measured.efficiency(row.point.workers),
                "efficiency_of_run": rows.efficiency_of_one_run(row),
            }
            known = {name: "" if value is None else f"{value:.6g}" for name, value in derived.items()}
            named = {**asdict(row.point), "transport": row.point.name, "cost": row.cost}
            writer.writerow({**named, **asdict(row.measured), **known})


def read_csv(path: Path) -> Rows:
    """Raises InputError if it is no table of `culmen bench transport`."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as e:
        raise InputError(f"{path} cannot be read: {getattr(e, 'strerror', None) or e}") from None
    if not lines or not set(COLUMNS) <= lines[0].keys():
        raise InputError(f"{path} is no table of `culmen bench transport`; give its transport.csv")
    try:
        return Rows(_row(line) for line in lines)
    except (TypeError, ValueError, KeyError):
        raise InputError(f"{path} is damaged: a line does not have the numbers that it should have") from None


def _row(line: dict[str, str]) -> Row:
    def values(kind: Any) -> dict[str, Any]:
        return {field.name: _READ[field.type](line[field.name]) for field in fields(kind)}

    return Row(Point(**values(Point)), line["cost"], PointMeasured(**values(PointMeasured)))


def _truth(text: str) -> bool:
    return {"True": True, "False": False}[text]


_READ: dict[Any, Callable[[str], Any]] = {str: str, int: lambda text: int(float(text)), float: float, bool: _truth}
