"""Runs of peers on COCO's functions, stored in peers/bbob.json."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version

from .bbob_peers import find
from .measure import Mode, Run, Score, Task, play
from .players import STREAMS
from .problems import Id
from .stored import Stored

COMMAND = "python -m benchmarks.quality.bench --remake-peers"


def shorten(times: list[float]) -> str:
    """Differences between successive targets, with two decimals; n*k is n and then k times 0."""
    words: list[str] = []
    zeros, last = 0, 0.0
    for time in (*times, None):
        step = None if time is None else round(round(time, 2) - last, 2)
        if words and step == 0:
            zeros += 1
            continue
        if zeros:
            words[-1] += f"*{zeros}"
        if time is not None:
            words.append(f"{step:.10g}")
            zeros, last = 0, round(time, 2)
    return " ".join(words)


def lengthen(words: str) -> list[float]:
    """The inverse of shorten()."""
    times: list[float] = []
    last = 0.0
    for word in words.split():
        step, _, zeros = word.partition("*")
        last = round(last + float(step), 2)
        times += [last] * (1 + int(zeros or 0))
    return times


def key(task: Task) -> str:
    _, which, mode, seed = task
    words = [f"f{which.function:02} D{which.dimension} i{which.instance} B{mode.horizon(which.dimension)}"]
    if seed != 1:
        words.append(f"seed {seed}")
    if mode.noise:
        words.append(f"noise {mode.noise:g}")
    if mode.step is not None:
        words.append(f"steps of {mode.step}")
    if mode.sigma is not None:
        words.append(f"{mode.workers} workers sigma {mode.sigma:g}")
    return " ".join(words)


def libraries(player: str, mode: Mode) -> tuple[str, ...]:
    name = player.removeprefix("peer:")
    streamed = name in STREAMS and (mode.step is not None or mode.sigma is not None)
    return ("coco-experiment", *(("cma", "numpy") if streamed else find(name).libraries))


def missing(players: Iterable[str], mode: Mode) -> str:
    """A sentence about the first library that is not installed, or nothing."""
    for player in players:
        for library in libraries(player, mode):
            try:
                version(library)
            except PackageNotFoundError:
                return f"{player} needs {library}, which is not installed: pip install -e '.[dev,peers]'"
    return ""


class PeerRuns:
    """The file. It has only the modes and problems of earlier runs."""

    def __init__(self) -> None:
        self._stored = Stored("bbob", COMMAND)

    def known(self, task: Task) -> Run | None:
        entry = self._stored.get(task[0], key(task))
        if entry is None:
            return None
        words, *busy = entry
        return Run(lengthen(words), *busy)

    def remake(self, tasks: Iterable[Task], jobs: int, anew: bool, tick: Callable[[], None] = lambda: None) -> None:
        """Makes the missing runs, or with `anew` all. tick: called after each run."""
        due = [task for task in tasks if anew or self.known(task) is None]
        for task, run in play(due, jobs):
            busy = () if task[2].sigma is None else (round(run.busy, 3),)
            self._stored.put(task[0], key(task), [shorten(run.times), *busy], libraries(task[0], task[2]))
            tick()

    def scores(self, players: Iterable[str], problems: Iterable[Id], mode: Mode) -> dict[tuple[str, int], Score]:
        """The scores on those problems that the file has with seed 1. Peers without such a problem are left out."""
        problems = list(problems)
        out: dict[tuple[str, int], Score] = {}
        for player in players:
            for which in problems:
                if (run := self.known((player, which, mode, 1))) is not None:
                    score = out.setdefault((player, which.dimension), Score(mode.horizon(which.dimension)))
                    score.add(which, run)
        return out
