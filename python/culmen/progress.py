"""What a user sees while a study runs. Watches only: nothing here can slow or break a study."""

import os
import shutil
import sys
from collections import deque
from typing import Protocol

from . import _core

_REDRAW_S = 0.1
_RATE_OVER_S = 5.0
_FIRST_LINE_S, _LINE_GAP_GROWS, _LONGEST_GAP_S = 1.0, 1.5, 60.0


class Monitor(Protocol):
    def update(self, progress: _core.Progress) -> None: ...
    def close(self) -> None: ...


def make_monitor(wanted: bool | None = None) -> Monitor:
    """``None``: a bar where standard output is a terminal, else nothing; True: a bar there, else lines; False: nothing.

    CULMEN_PROGRESS=bar, lines or none decides where it is set, unless ``wanted`` is False.
    """
    kind = os.environ.get("CULMEN_PROGRESS", "")
    if kind not in ("bar", "lines", "none"):
        kind = "bar" if on_terminal() else "lines" if wanted else "none"
    if wanted is False or kind == "none":
        return Silent()
    return Bar() if kind == "bar" else Lines()


def on_terminal() -> bool:
    """True where a bar can be drawn. Open MPI gives its ranks a terminal of its own whatever lies behind it: there, as
    where a launcher's pipe lies between, only CULMEN_PROGRESS=bar tells."""
    return os.environ.get("CULMEN_PROGRESS") == "bar" or (sys.stdout.isatty() and not _core.detect_launch().is_rank)


def draw_through_pipes() -> None:
    """Where this is a terminal, the ranks that are started from here draw a bar."""
    if on_terminal():
        os.environ.setdefault("CULMEN_PROGRESS", "bar")
        os.environ.setdefault("COLUMNS", str(shutil.get_terminal_size().columns))


class Silent:
    def update(self, progress: _core.Progress) -> None:
        pass

    def close(self) -> None:
        pass


class Lines:
    """A plain line now and then, for logs: the first after a second, then with growing gaps."""

    def __init__(self) -> None:
        self._rate = Rate()
        self._due_s, self._gap_s = _FIRST_LINE_S, _FIRST_LINE_S

    def update(self, progress: _core.Progress) -> None:
        rate = self._rate.at(progress)
        if progress.elapsed_s < self._due_s:
            return
        self._gap_s = min(self._gap_s * _LINE_GAP_GROWS, _LONGEST_GAP_S)
        self._due_s = progress.elapsed_s + self._gap_s
        print(
            f"culmen: {', '.join((counted(progress), *figures(progress, rate)))}, {clock(progress.elapsed_s)}",
            flush=True,
        )

    def close(self) -> None:
        pass


class Bar:
    """A bar that redraws itself in place, also where standard output is a launcher's pipe to a terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._rate, self._drawn_s = Rate(), -_REDRAW_S
        columns = (BarColumn(bar_width=24), TextColumn("{task.description}"))
        self._live = Progress(*columns, console=Console(force_terminal=True), auto_refresh=False)
        self._task = self._live.add_task("starting", total=None)
        self._live.start()

    def update(self, progress: _core.Progress) -> None:
        rate = self._rate.at(progress)
        if progress.elapsed_s < self._drawn_s + _REDRAW_S and progress.phase != "done":
            return
        self._drawn_s = progress.elapsed_s
        text = "  ".join((clock(progress.elapsed_s), counted(progress), *figures(progress, rate)))
        self._live.update(
            self._task, total=progress.budget or None, completed=progress.evaluations, description=text, refresh=True
        )

    def close(self) -> None:
        self._live.stop()


class Rate:
    """Evaluations a second over the last few seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def at(self, progress: _core.Progress) -> float:
        self._seen.append((progress.elapsed_s, progress.evaluations))
        while len(self._seen) > 2 and self._seen[1][0] < progress.elapsed_s - _RATE_OVER_S:
            self._seen.popleft()
        (start_s, before), (end_s, now) = self._seen[0], self._seen[-1]
        return (now - before) / (end_s - start_s) if end_s > start_s else 0.0


def counted(progress: _core.Progress) -> str:
    return (
        f"{progress.evaluations}/{progress.budget} evaluations"
        if progress.budget
        else f"{progress.evaluations} evaluations"
    )


def figures(progress: _core.Progress, rate: float) -> list[str]:
    """Best value, rate, workers, and what is out of the ordinary."""
    parts = [] if progress.best_value is None else [f"best {progress.best_value:.6g}"]
    parts += [per_second(rate), f"{progress.busy}/{progress.workers} busy"]
    parts += [f"{count} {name}" for name in ("failed", "retried", "lost") if (count := getattr(progress, name))]
    return parts if progress.phase == "running" else [*parts, progress.phase]


def per_second(rate: float) -> str:
    return f"{rate:.0f}/s" if rate >= 10 else f"{rate:.2g}/s"


def clock(seconds: float) -> str:
    minutes, s = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{s:02}"
