"""The time that a tuning still needs, so that a job gets enough of it."""

import math
from dataclasses import dataclass
from pathlib import Path

from ..._core import CulmenError
from ...store.opening import open_store
from .tuner import PRESENT, SEARCH, spent_s

_LAUNCH_S = 5.0  # the start and the end of a run on several nodes
BUILDS_S = 900.0  # of all builds, about


@dataclass(frozen=True)
class Work:
    """``run_s``: the longest time of a program, without its build. ``runs``, ``wall_time_s``: limits of the search, at
    least one of them; None: no limit. ``builds``: whether runs build the program."""

    run_s: float
    runs: int | None
    rounds: int
    wall_time_s: float | None = None
    builds: bool = False

    def left_s(self, folder: Path) -> float:
        """An upper limit of the rest. The comparison counts as a whole: if the search finds other settings, or if the
        number of rounds changes, the comparison starts again."""
        first = 0 if told_in(folder / PRESENT) else 1
        builds_s = BUILDS_S if self.builds else 0.0
        return builds_s + self._search_s(folder / SEARCH) + (first + 3 * self.rounds) * self._each_s

    @property
    def _each_s(self) -> float:
        return self.run_s + _LAUNCH_S

    def _search_s(self, store: Path) -> float:
        by_runs = by_time = math.inf
        if self.runs is not None:
            by_runs = max(self.runs - told_in(store), 0) * self._each_s
        if self.wall_time_s is not None:  # the last run may begin at the end of this time
            by_time = max(self.wall_time_s - seconds_in(store), 0.0) + self._each_s
        return min(by_runs, by_time)


def told_in(store: Path) -> int:
    """The number of runs in the store."""
    try:
        return int(open_store(store).summary["told"]) if store.exists() else 0
    except CulmenError:
        return 0  # the job is just writing it


def seconds_in(*stores: Path) -> float:
    """The duration of all runs in these stores."""
    try:
        return spent_s([store for store in stores if store.exists()])
    except CulmenError:
        return 0.0  # the job is just writing one
