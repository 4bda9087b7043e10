"""A study in a store that the same command resumes, and one whose candidates are points to measure."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import _core
from .._core import InputError
from ..base.signals import STOP_SIGNALS
from ..run.master import conduct, raise_error
from ..run.progress.monitor import Monitor
from ..run.result import Result
from ..run.study import Study
from ..store.opening import open_store, working_folder
from ..study_file import Mistakes, StudyFile, checked


class KeptStudy:
    """``folder``: relative paths of the evaluator start there. ``source``: what messages name. ``candidates``: what the
    store holds, for a message. ``beside``: evaluations get their folders beside this path; None: beside the store."""

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
        """The number of evaluations that the store has already. Raises InputError if it is of another study."""
        if not self.store.exists():
            return 0
        opened = open_store(self.store)
        if opened.summary["owned"]:
            raise InputError(f"{self.store} is in use: {opened.summary['owner']} measures there")
        if self._study.meet(opened.begun).another:
            raise InputError(
                f"{self.store} holds other {self._candidates}; give another folder with --output, or write --overwrite "
                "to measure again"
            )
        self._study.prepare_resume()
        return int(opened.summary["told"])

    def conduct(
        self, begin: Callable[[], Monitor], exit_code: int, limit: int | None = None, wall_time_s: float | None = None
    ) -> Result:
        """Runs until there are ``limit`` evaluations, or for ``wall_time_s``, or to the end of the study: candidates
        depend on neither. ``exit_code``: of the program after a second signal.

        Raises CulmenError or one of its kinds if the run broke."""
        self._study.settle()
        config = self._study.config
        if limit is not None:
            config.planned_evaluations = config.planned_evaluations or config.evaluations
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
        return Result.of(ran.result, self._study.config.space)


class PointStudy(KeptStudy):
    """``command``: that measures the points. ``points``: the parameters of each point, with values of the same types.
    ``fixed``: of all points. ``evaluator``: a function of culmen."""

    def __init__(
        self,
        command: str,
        points: Sequence[Mapping[str, Any]],
        fixed: Mapping[str, Any],
        evaluator: str,
        time_limit_s: float,
        store: Path,
    ) -> None:
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

    def run(self, begin: Callable[[], Monitor], exit_code: int, limit: int) -> bool:
        """Measures the points until there are ``limit`` of them. False: a signal stopped it. ``exit_code``: of the
        program after a second signal."""
        result = self.conduct(begin, exit_code, limit)
        if result.reason in ("interrupted", "evaluations"):
            return result.reason == "evaluations"
        raise _core.CulmenError(result.message)


def _parameter(values: list[Any]) -> dict[str, Any]:
    """The values that a parameter has in a grid."""
    different = sorted(set(values))
    if len(different) == 1:
        return {"value": different[0]}
    if isinstance(different[0], bool):
        return {"type": "boolean"}
    return {"type": "categorical" if isinstance(different[0], str) else "ordinal", "choices": different}
