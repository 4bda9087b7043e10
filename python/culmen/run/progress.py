"""What a user sees while a study runs. Watches only: nothing here can slow or break a study."""

import html
import os
from collections import deque
from dataclasses import dataclass
from typing import Any, Protocol

from .. import _core
from ..base.terminal import in_notebook, on_terminal
from ..base.text import clock, counts, few, per_second

_REDRAW_S = 0.1
_RECENT_S = 5.0
_FIRST_LINE_S, _LINE_GAP_GROWS, _LONGEST_GAP_S = 1.0, 1.5, 60.0
_SHORTEST_BAR, _LONGEST_BAR, _ROOM_FOR_CTRL_C = 12, 40, 3
_CELL_REDRAW_S, _CELL_WIDTH = 0.25, 120
_NOT_YET = ("starting", "replaying")


class Monitor(Protocol):
    slice_s: float  # how often it wants to look; a signal is heard at once whatever this is

    def update(self, progress: _core.Progress) -> None: ...
    def close(self) -> None: ...


def best_of(objectives: list[tuple[str, str]]) -> str:
    """What the best value is called: where there are several objectives it is that of the first."""
    return f"best {objectives[0][0]}" if len(objectives) > 1 else "best"


def make_monitor(wanted: bool | None = None, best: str = "best") -> Monitor:
    """``None``: a bar where standard output is a terminal or a notebook's cell, else nothing; True: a bar there, else
    lines; False: nothing. ``best``: what the best value is called.

    CULMEN_PROGRESS=bar, lines or none decides where it is set, unless ``wanted`` is False.
    """
    kind = os.environ.get("CULMEN_PROGRESS", "")
    if kind not in ("bar", "lines", "none"):
        kind = "bar" if on_terminal() or in_notebook() else "lines" if wanted else "none"
    if wanted is False or kind == "none":
        return Silent()
    if kind == "lines":
        return Lines(best)
    try:
        return Cell(best) if in_notebook() else Bar(best)
    except (OSError, SystemExit):  # rich leaves the program when nobody reads
        return Silent()


class Silent:
    slice_s = 1.0

    def update(self, progress: _core.Progress) -> None:
        pass

    def close(self) -> None:
        pass


class Lines:
    """A plain line now and then, for logs: the first after a second, then with growing gaps."""

    slice_s = 0.2

    def __init__(self, best: str = "best") -> None:
        self._recent, self._best = Recent(), best
        self._due_s, self._gap_s = _FIRST_LINE_S, _FIRST_LINE_S

    def update(self, progress: _core.Progress) -> None:
        self._recent.see(progress)
        if progress.elapsed_s < self._due_s:
            return
        self._gap_s = min(self._gap_s * _LINE_GAP_GROWS, _LONGEST_GAP_S)
        self._due_s = progress.elapsed_s + self._gap_s
        parts = (counted(progress), *figures(progress, self._recent, self._best), clock(progress.elapsed_s))
        print(f"culmen: {', '.join(parts)}", flush=True)

    def close(self) -> None:
        pass


class Bar:
    """A bar that redraws itself in place, also where standard output is a launcher's pipe to a terminal.

    It fits the terminal's width, and leaves the cursor as it is: whatever ends the process, nothing is to be undone.
    """

    slice_s = 0.05

    def __init__(self, best: str = "best") -> None:
        from rich.console import Console
        from rich.live import Live

        self._recent, self._best, self._drawn_s = Recent(), best, -_REDRAW_S
        self._live = Live(console=Console(force_terminal=True), auto_refresh=False)
        self._live.start()
        self._live.console.show_cursor()

    def update(self, progress: _core.Progress) -> None:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        self._recent.see(progress)
        if progress.elapsed_s < self._drawn_s + _REDRAW_S and progress.phase != "done":
            return
        self._drawn_s = progress.elapsed_s
        room, text = layout(progress, self._recent, self._live.console.width - _ROOM_FOR_CTRL_C, self._best)
        row: list[Text | ProgressBar] = [Text(text, no_wrap=True)]
        if room:
            row.insert(0, ProgressBar(total=progress.budget, completed=progress.evaluations, width=room))
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_row(*row)
        self._live.update(grid, refresh=True)

    def close(self) -> None:
        self._live.stop()


class Cell:
    """A bar in a notebook's cell, which changes in place."""

    slice_s = 0.1

    def __init__(self, best: str = "best") -> None:
        self._recent, self._best, self._drawn_s = Recent(), best, -_CELL_REDRAW_S
        self._handle: Any = None

    def update(self, progress: _core.Progress) -> None:
        self._recent.see(progress)
        if progress.elapsed_s < self._drawn_s + _CELL_REDRAW_S and progress.phase != "done":
            return
        self._drawn_s = progress.elapsed_s
        text = layout(progress, self._recent, _CELL_WIDTH, self._best)[1]
        shown = CellLine(progress.evaluations, progress.budget, text)
        if self._handle is None:
            from IPython.display import display

            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class CellLine:
    """What a cell shows; as text where the notebook shows no HTML."""

    evaluations: int
    budget: int  # 0: there is none, so no bar
    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        bar = f'<progress max="{self.budget}" value="{self.evaluations}"></progress> ' if self.budget else ""
        return f"{bar}<span>{html.escape(self.text)}</span>"


def layout(progress: _core.Progress, recent: "Recent", width: int, best: str = "best") -> tuple[int, str]:
    """Columns for the bar (0: there is no room, or no budget) and the text beside it, together at most ``width``.

    What matters least is left out where there is no room.
    """
    parts = [counted(progress), *figures(progress, recent, best), clock(progress.elapsed_s)]
    if len("  ".join(parts)) + _SHORTEST_BAR > width:
        parts[0] = parts[0].removesuffix(" evaluations")
    while len(parts) > 1 and len("  ".join(parts)) > width:
        parts.pop()
    text = "  ".join(parts)[: max(width, 0)]
    room = min(_LONGEST_BAR, width - len(text) - 2)
    return (room if progress.budget and room >= _SHORTEST_BAR - 2 else 0), text


class Recent:
    """Rate and busy workers over the last few seconds of the run itself: a former run's evaluations are no speed.

    What is busy at one moment says little where evaluations are short, so it is averaged over the moments looked at.
    """

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int, int]] = deque()

    def see(self, progress: _core.Progress) -> None:
        if progress.phase in _NOT_YET:
            self._seen.clear()
        elif progress.phase == "running":
            self._seen.append((progress.elapsed_s, progress.evaluations, progress.busy))
            while len(self._seen) > 2 and self._seen[1][0] < progress.elapsed_s - _RECENT_S:
                self._seen.popleft()

    @property
    def rate(self) -> float:
        """Evaluations a second."""
        if len(self._seen) < 2:
            return 0.0
        (start_s, before, _), (end_s, now, _) = self._seen[0], self._seen[-1]
        return (now - before) / (end_s - start_s) if end_s > start_s else 0.0

    @property
    def busy(self) -> float:
        return sum(busy for *_, busy in self._seen) / max(len(self._seen), 1)


def counted(progress: _core.Progress) -> str:
    return f"{counts(progress.evaluations, progress.budget)} evaluations"


def figures(progress: _core.Progress, recent: Recent, best: str = "best") -> list[str]:
    """Best value, rate, workers, and what is out of the ordinary; what matters most comes first."""
    parts = [] if progress.phase in ("running", "done") else [progress.phase]
    parts += [] if progress.best_value is None else [f"{best} {progress.best_value:.6g}"]
    if progress.phase == "running":
        busy = f"{few(recent.busy)}/{progress.workers} busy" if progress.workers else "waiting for workers"
        parts += [*_time_left(progress, recent.rate), per_second(recent.rate), busy]
    return parts + [f"{count} {name}" for name in ("failed", "retried", "lost") if (count := getattr(progress, name))]


def _time_left(progress: _core.Progress, rate: float) -> list[str]:
    """By the rate of the last seconds; nothing where there is no budget, or no rate yet."""
    left = progress.budget - progress.evaluations
    return [f"{clock(left / rate)} left"] if progress.budget and left > 0 and rate > 0 else []
