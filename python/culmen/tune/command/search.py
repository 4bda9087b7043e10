"""A search that pauses to check whether it still pays. No program runs during the check, because the check would
disturb it."""

import time
from collections.abc import Callable
from pathlib import Path

from ..._core import Progress
from ...base.exit_codes import RESUMABLE
from ...bench.stopping import StoppedError
from ...bench.study import KeptStudy
from ...report.reading import Evaluations, read
from ...run.progress.monitor import Monitor, with_fields
from ...run.result import Result
from .stopping import Ended, StopRule


def search_while_it_pays(
    study: KeptStudy,
    rule: StopRule,
    begin: Callable[[], Monitor],
    most: int | None,
    wall_time_s: float | None,
    seen: Callable[[Path], Evaluations] = read,
) -> tuple[Result, Ended]:
    """``most``, ``wall_time_s``: the limits of the file. ``seen``: reads a store for the rule, which takes ratios of
    the values. Candidates do not depend on the pauses. Raises StoppedError if a signal stopped the search."""
    monitor = _Lasting(begin(), most)
    try:
        return _search(study, rule, monitor, most, wall_time_s, seen)
    finally:
        monitor.end()


def _search(
    study: KeptStudy,
    rule: StopRule,
    monitor: "_Lasting",
    most: int | None,
    wall_time_s: float | None,
    seen: Callable[[Path], Evaluations],
) -> tuple[Result, Ended]:
    begun_s = time.monotonic()
    runs = max(study.open(), 1)
    while True:
        limit = rule.next_runs(runs - 1) if most is None else min(rule.next_runs(runs - 1), most)
        left_s = None if wall_time_s is None else max(wall_time_s - (time.monotonic() - begun_s), 1e-3)
        result = study.conduct(lambda: monitor, RESUMABLE, limit, left_s)
        if result.reason == "interrupted":
            raise StoppedError
        ended = rule.seen(seen(study.store), limit)
        if result.reason != "evaluations" or ended.stopped or limit == most:
            return result, ended
        runs = study.open() + 1


class _Lasting:
    """A monitor that shows several runs of one study as one run."""

    def __init__(self, monitor: Monitor, budget: int | None) -> None:
        self._monitor, self._budget, self.slice_s = monitor, budget or 0, monitor.slice_s
        self._begun_s = time.monotonic()

    def update(self, progress: Progress) -> None:
        elapsed_s = time.monotonic() - self._begun_s
        self._monitor.update(with_fields(progress, elapsed_s=elapsed_s, budget=self._budget))

    def close(self) -> None:
        pass

    def end(self) -> None:
        self._monitor.close()
