"""A study in a store that the same command resumes, and one whose candidates are points to measure."""

import glob
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import _core
from .._core import InputError, StoreError
from ..base import machine
from ..base.signals import STOP_SIGNALS
from ..report.reading import read
from ..run.master import conduct, raise_error
from ..run.progress.monitor import Monitor
from ..run.result import Result
from ..run.study import Study
from ..store.differences import first_difference
from ..store.opening import Opened, open_store, working_folder
from ..study_file import Mistakes, StudyFile, checked
from .stopping import stop_after

_AGAIN = "-again-"  # in the names of stores


class KeptStudy:
    """``folder``: relative paths of the evaluator start there. ``source``: the name in messages. ``candidates``: a word
    for the content of the store, for a message. ``beside``: evaluations get their folders next to this path; None for
    next to the store."""

    def __init__(
        self,
        file: StudyFile,
        folder: Path,
        source: str,
        store: Path,
        candidates: str = "candidates",
        beside: Path | None = None,
    ) -> None:
        self.store = store
        self._candidates = candidates
        self._study = Study.of(file, folder, Mistakes(source), str(store))
        if beside is not None:
            self._study.config.evaluator.working_folder = str(working_folder(beside))

    def is_another(self) -> bool:
        """Whether the store, if there is one, is of another study."""
        return self.store.exists() and bool(self._study.meet(open_store(self.store).begun).another)

    def open(self) -> int:
        """The number of evaluations that the store has already. Raises InputError if it is of another study, or in
        use."""
        if not self.store.exists():
            return 0
        opened = open_store(self.store)
        _refuse_owned(opened)
        if self._study.meet(opened.begun).another:
            difference = first_difference(opened.begun, self._study.config)
            raise InputError(
                f"{self.store} holds other {self._candidates}; give another folder with --output, or write --overwrite "
                f"to measure again ({difference})"
            )
        self._study.prepare_resume()
        return int(opened.summary["told"])

    def conduct(
        self, begin: Callable[[], Monitor], exit_code: int, limit: int | None = None, wall_time_s: float | None = None
    ) -> Result:
        """Runs until there are ``limit`` evaluations, for ``wall_time_s``, or to the end of the study. Candidates do
        not depend on these limits. ``exit_code``: of the program after a second signal.

        Raises CulmenError or one of its kinds if the run failed, InputError if the store is of another machine, and
        what stop_after() does."""
        self._check_machine()
        self._study.settle()
        config = self._study.config
        if limit is not None:
            if config.planned_evaluations is None:
                config.planned_evaluations = config.evaluations
            config.evaluations = limit
        if wall_time_s is not None:
            config.wall_time_s = wall_time_s
        ran = conduct(
            self._study.config,
            self._study.options,
            lambda _run: begin(),
            STOP_SIGNALS,
            lambda _number: os._exit(exit_code),
        )
        raise_error(ran.result)
        if ran.result.reason != "interrupted":  # the study ended just before the signal
            stop_after(ran.signals)
        return Result.of(ran.result, self._study.config.space)

    def _check_machine(self) -> None:
        if not self.store.exists():
            return
        if other := machine.other_machine(open_store(self.store).begun.configuration.get(machine.KEY, {})):
            raise InputError(
                f"the first measurements were {other}; continue there, give another folder with --output, or write "
                "--overwrite to measure again"
            )


class PointStudy(KeptStudy):
    """``command``: the command that measures the points. ``points``: the parameters of each point, with values of the
    same types. ``fixed``: parameters of all points. ``evaluator``: a function of culmen."""

    def __init__(
        self,
        command: str,
        points: Sequence[Mapping[str, Any]],
        fixed: Mapping[str, Any],
        evaluator: str,
        time_limit_s: float,
        store: Path,
    ) -> None:
        self.points = list(points)
        self._same = (command, fixed, evaluator, time_limit_s)
        space = {name: _parameter([point[name] for point in points]) for name in points[0]}
        space["number"] = {"type": "integer", "lower": 0, "upper": max(len(points) - 1, 1)}  # each candidate differs
        space |= {name: {"value": value} for name, value in fixed.items()}
        tables = {
            "name": command.removeprefix("culmen "),
            "space": space,
            "starts": [{"number": number} | dict(point) for number, point in enumerate(points)],
            "evaluator": {"python": evaluator, "time_limit_s": time_limit_s},
            "optimizer": {"name": "random", "generational": True},
            "stop": {"evaluations": len(points)},
            "run": {"workers": 1, "prefetch": False},
        }
        super().__init__(checked(StudyFile, tables, command), Path.cwd(), command, store, "points")

    def _of(self, points: Sequence[Mapping[str, Any]], store: Path) -> "PointStudy":
        command, fixed, evaluator, time_limit_s = self._same
        return PointStudy(command, points, fixed, evaluator, time_limit_s, store)

    def in_store(self, store: Path) -> "PointStudy":
        """The same study in another store."""
        return self._of(self.points, store)

    def last_round(self) -> "PointStudy":
        """The study that the same command continues. If this study is complete, it is a study of the points that
        failed, in a store next to this one; and so on. Raises InputError as open() does."""
        if self.open() < len(self.points):
            return self
        found = read(self.store)
        failed = sorted(int(number) for number in found.columns["number"][found.failed])
        if not failed:
            return self
        return self._of([self.points[number] for number in failed], _next_round(self.store)).last_round()

    def missing(self) -> int:
        """The number of points that the same command measures: those without an outcome, otherwise those that failed.
        Raises InputError as open() does."""
        last = self.last_round()
        return len(last.points) - last.open()

    def run(self, begin: Callable[[], Monitor], exit_code: int, limit: int) -> bool:
        """Measures the points until there are ``limit`` of them. Returns False if a signal stopped it. ``exit_code``:
        of the program after a second signal."""
        result = self.conduct(begin, exit_code, limit)
        if result.reason in ("interrupted", "evaluations"):
            return result.reason == "evaluations"
        raise _core.CulmenError(result.message)


def _refuse_owned(opened: Opened) -> None:
    if opened.summary["owned"]:
        raise InputError(f"{opened.path} is in use: {opened.summary['owner']} measures there")


def refuse_in_use(*stores: Path) -> None:
    """Raises InputError if a process measures in one of these stores. Some of them may not exist."""
    for store in stores:
        try:
            opened = open_store(store)
            _ = opened.summary
        except (InputError, StoreError):  # no process uses a damaged store
            continue
        _refuse_owned(opened)


def _next_round(store: Path) -> Path:
    stem, _, number = store.stem.partition(_AGAIN)
    return store.with_name(f"{stem}{_AGAIN}{int(number or 0) + 1}{store.suffix}")


def later_rounds(store: Path) -> list[Path]:
    """All stores next to this one in which points were measured again."""
    return sorted(store.parent.glob(f"{glob.escape(store.stem)}{_AGAIN}*{store.suffix}"))


def rounds(store: Path) -> list[Path]:
    """The store, and the stores next to it in which failed points were measured again. Empty if the store does not
    exist."""
    return [store, *rounds(_next_round(store))] if store.exists() else []


def left_in(store: Path, points: int) -> tuple[int, int]:
    """The number of points without an outcome; if all have one, the number of those that failed again."""
    left, failed = points, points
    for place in rounds(store):
        summary = open_store(place).summary
        left, failed = failed - int(summary["told"]), int(summary["failed"])
        if left > 0:
            break
    return (left, 0) if left > 0 else (0, failed)


def outcomes_in(store: Path, *names: str) -> tuple[list[tuple[Any, ...]], list[dict[str, Any]]]:
    """These parameters of each point that was measured, in any round, and the failures of the last round."""
    measured: list[tuple[Any, ...]] = []
    failures: list[dict[str, Any]] = []
    for place in rounds(store):
        found = read(place)
        failures = found.opened.failures
        rows = zip(found.columns["status"], *(found.columns[name] for name in names), strict=True)
        measured += [tuple(values) for status, *values in rows if status == "ok"]
    return measured, failures


def _parameter(values: list[Any]) -> dict[str, Any]:
    """The values that a parameter has in a grid."""
    different = sorted(set(values))
    if len(different) == 1:
        return {"value": different[0]}
    if isinstance(different[0], bool):
        return {"type": "boolean"}
    return {"type": "categorical" if isinstance(different[0], str) else "ordinal", "choices": different}
