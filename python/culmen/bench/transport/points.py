"""The study that measures a grid of transports, and its results."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from ...report.reading import read
from ..study import PointStudy, rounds
from .grid import Grid
from .point import Point, PointMeasured
from .rows import Row, Rows

_POINT_S, _WORKER_S, _ROUNDS = 300.0, 1.0, 50  # time limit of a point: also on a busy machine


def study_of(grid: Grid, store: Path) -> PointStudy:
    """The study of a grid, in a store."""
    fixed = {"cost": grid.cost, "measure_s": grid.measure_s, "mpi": grid.mpi}
    points = [asdict(point) for point in grid.points()]
    evaluator = "culmen.bench.transport.point:measure"
    return PointStudy("culmen bench transport", points, fixed, evaluator, _time_limit_s(grid), store)


def _time_limit_s(grid: Grid) -> float:
    return _POINT_S + _WORKER_S * max(grid.workers) + _ROUNDS * max(grid.evaluations_s) + 2 * grid.measure_s


def rows_in(store: Path, cost: str) -> tuple[Rows, list[str]]:
    """The points that succeeded in a store and in those next to it, and one sentence for each kind of failure in the
    last one."""
    rows, failures, told = [], [], 0
    for place in rounds(store):
        table = read(place)
        columns = table.columns
        rows += [
            Row(Point(**_read(Point, columns, row)), cost, PointMeasured(**_read(PointMeasured, columns, row)))
            for row in range(len(table))
            if columns["status"][row] == "ok"
        ]
        told = told or table.summary["told"]
        failures = [
            f"{f['count']} of {told} points failed: {f['message'].splitlines()[0]}" for f in table.opened.failures
        ]
    return Rows(rows), failures


def _read(kind: type[Point] | type[PointMeasured], columns: Mapping[str, Any], row: int) -> dict[str, Any]:
    """The fields, each with its own type."""
    types: dict[str, Any] = {field.name: field.type for field in fields(kind)}
    return {name: of(columns[name][row]) for name, of in types.items()}
