"""The choice of a monitor for a run, and the monitors that draw no bar."""

import os
from typing import Protocol

from ... import _core
from ...base.terminal import in_notebook, on_terminal
from ...base.text import clock
from .bar import Bar
from .cell import Cell
from .figures import Recent, counted, figures

_FIRST_LINE_S, _LINE_GAP_GROWS, _LONGEST_GAP_S = 1.0, 1.5, 60.0


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
