"""Runs optimizers on many problems in parallel, and collects the results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing import Pool

from . import clock, runs
from .problems import Id
from .score import TARGETS, area, table


@dataclass(frozen=True)
class Mode:
    """The unit of time: evaluations; with `step`, steps of this number of evaluations; with `sigma`, mean durations."""

    noise: float = 0.0
    sigma: float | None = None
    workers: int = 100
    step: int | None = None
    budget: int | None = None  # evaluations per dimension, steps, or mean durations

    def horizon(self, dimension: int) -> int:
        if self.step is not None:
            return self.budget or 250
        if self.sigma is None:
            return (self.budget or 1000) * dimension
        return self.budget or max(1, 5000 * dimension // self.workers)


@dataclass(frozen=True)
class Run:
    """times: when each target was reached. busy: the share of the time in which workers were busy."""

    times: list[float]
    busy: float = 1.0


Task = tuple[str, Id, Mode, int]  # optimizer, problem, mode, seed


@dataclass
class Score:
    """The results of one optimizer in one dimension."""

    horizon: int
    times: dict[Id, list[float]] = field(default_factory=dict)  # when the targets were reached
    busy: list[float] = field(default_factory=list)  # shares of the workers' time

    def add(self, which: Id, run: Run) -> None:
        self.times[which] = run.times
        self.busy.append(run.busy)

    @property
    def areas(self) -> dict[Id, float]:
        return {which: area(times, self.horizon) for which, times in self.times.items()}

    @property
    def figures(self) -> dict[str, float]:
        """Areas by group and of "all", the shares of targets and of solved problems, and the share of busy time."""
        reached = [len(times) for times in self.times.values()]
        return table(self.areas) | {
            "targets": sum(reached) / len(TARGETS) / len(reached),
            "solved": sum(n == len(TARGETS) for n in reached) / len(reached),
            "busy": sum(self.busy) / len(self.busy),
        }


def measure(
    players: Iterable[str],
    problems: Iterable[Id],
    mode: Mode,
    seed: int = 1,
    jobs: int = 2,
    tick: Callable[[], None] = lambda: None,
) -> dict[tuple[str, int], Score]:
    """By optimizer and dimension. tick: called after each run."""
    players = list(players)
    tasks = [(player, which, mode, seed) for which in problems for player in players]
    scores: dict[tuple[str, int], Score] = {}
    for (player, which, _, _), run in play(tasks, jobs):
        scores.setdefault((player, which.dimension), Score(mode.horizon(which.dimension))).add(which, run)
        tick()
    return scores


def play(tasks: Iterable[Task], jobs: int) -> Iterator[tuple[Task, Run]]:
    """In the order in which they end."""
    with Pool(jobs) as pool:
        yield from pool.imap_unordered(_one, tasks)


def _one(task: Task) -> tuple[Task, Run]:
    warnings.simplefilter("ignore")
    player, which, mode, seed = task
    horizon = mode.horizon(which.dimension)
    if mode.step is not None:
        return task, Run(runs.stepped(player, which, seed, horizon, mode.step, mode.noise))
    if mode.sigma is None:
        return task, Run(runs.serial(player, which, seed, horizon, mode.noise))
    return task, Run(*clock.parallel(player, which, seed, horizon, mode.workers, mode.sigma, mode.noise))
