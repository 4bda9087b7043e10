"""The study that measures a grid. Its candidates are the points, one at a time, so that it can be resumed."""

import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from .. import _core
from .._core import InputError
from ..base.signals import STOP_SIGNALS
from ..report.reading import read
from ..run.master import conduct
from ..run.progress.monitor import Monitor
from ..run.study import Study
from ..store.opening import open_store
from ..study_file import Mistakes, StudyFile, checked
from .grid import Grid
from .point import Point, PointMeasured
from .rows import Row, Rows

_SOURCE = "culmen bench transport"
_POINT_S, _WORKER_S, _ROUNDS = 300.0, 1.0, 50  # time limit of a point: also on a busy machine


class GridStudy:
    """The study of a grid, in a store."""

    def __init__(self, grid: Grid, store: Path) -> None:
        self.points, self.store = grid.points(), store
        self._study = Study.of(_study_file(grid, self.points), Path.cwd(), Mistakes(_SOURCE), str(store))

    def open(self) -> int:
        """The number of points that the store has already. Raises InputError if it holds another grid."""
        if not self.store.exists():
            return 0
        opened = open_store(self.store)
        if opened.summary["owned"]:
            raise InputError(f"{self.store} is in use: {opened.summary['owner']} measures there")
        if self._study.meet(opened.begun).another:
            raise InputError(
                f"{self.store} holds another grid; give another folder with --output, or write --overwrite to measure "
                "again"
            )
        self._study.prepare_resume()
        return int(opened.summary["told"])

    def run(self, begin: Callable[[], Monitor], exit_code: int) -> bool:
        """Measures the points that are missing. False: a signal stopped it. ``exit_code``: of the program after a
        second signal."""
        self._study.settle()
        ran = conduct(
            self._study.config,
            self._study.options,
            lambda _run: begin(),
            STOP_SIGNALS,
            lambda _number: os._exit(exit_code),
        )
        if ran.result.reason in ("interrupted", "evaluations"):
            return ran.result.reason == "evaluations"
        raise _core.CulmenError(ran.result.message)


def _study_file(grid: Grid, points: list[Point]) -> StudyFile:
    """One parameter for each thing that varies, and the number of the point, which makes each candidate different."""
    names = [field.name for field in fields(Point)]
    space = {name: _parameter([getattr(point, name) for point in points]) for name in names}
    space["number"] = {"type": "integer", "lower": 0, "upper": max(len(points) - 1, 1)}
    fixed = {"cost": grid.cost, "measure_s": grid.measure_s, "mpi": grid.mpi}
    space |= {name: {"value": value} for name, value in fixed.items()}
    starts = [
        {"number": number} | {name: getattr(point, name) for name in names} for number, point in enumerate(points)
    ]
    tables = {
        "name": "bench transport",
        "space": space,
        "starts": starts,
        "evaluator": {"python": "culmen.bench.point:measure", "time_limit_s": _time_limit_s(grid)},
        "optimizer": {"name": "random", "generational": True},
        "stop": {"evaluations": len(points)},
        "run": {"workers": 1, "prefetch": False},
    }
    study: StudyFile = checked(StudyFile, tables, _SOURCE)
    return study


def _time_limit_s(grid: Grid) -> float:
    return _POINT_S + _WORKER_S * max(grid.workers) + _ROUNDS * max(grid.evaluations_s) + 2 * grid.measure_s


def _parameter(values: list[Any]) -> dict[str, Any]:
    """The values that a parameter has in a grid."""
    different = sorted(set(values))
    if len(different) == 1:
        return {"value": different[0]}
    if isinstance(different[0], bool):
        return {"type": "boolean"}
    return {"type": "categorical" if isinstance(different[0], str) else "ordinal", "choices": different}


def rows_in(store: Path, cost: str) -> tuple[Rows, list[str]]:
    """The points in a store that succeeded, and one sentence for each kind of failure."""
    table = read(store)
    columns = table.columns
    rows = [
        Row(Point(**_read(Point, columns, row)), cost, PointMeasured(**_read(PointMeasured, columns, row)))
        for row in range(len(table))
        if columns["status"][row] == "ok"
    ]
    told = table.summary["told"]
    failures = [f"{f['count']} of {told} points failed: {f['message'].splitlines()[0]}" for f in table.opened.failures]
    return Rows(rows), failures


def _read(kind: type[Point] | type[PointMeasured], columns: Mapping[str, Any], row: int) -> dict[str, Any]:
    """The fields, each with its own type."""
    types: dict[str, Any] = {field.name: field.type for field in fields(kind)}
    return {name: of(columns[name][row]) for name, of in types.items()}
