"""The choice of a monitor for a run, and the monitors that draw no bar."""

import os
from typing import Any, Protocol, cast

from ... import _core
from ...base.terminal import in_notebook, on_terminal
from ...base.text import clock
from .bar import Bar
from .cell import Cell
from .figures import USUAL, Recent, Words, counted, figures

_FIRST_LINE_S, _LINE_GAP_GROWS, _LONGEST_GAP_S = 1.0, 1.5, 60.0


class Monitor(Protocol):
    slice_s: float  # time between looks; a signal is handled at once in any case

    def update(self, progress: _core.Progress) -> None: ...
    def close(self) -> None: ...


class _Changed:
    def __init__(self, progress: _core.Progress, fields: dict[str, float]) -> None:
        self._progress = progress
        vars(self).update(fields)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._progress, name)


def with_fields(progress: _core.Progress, **fields: float) -> _core.Progress:
    """The same progress with other values of these fields."""
    return cast(_core.Progress, _Changed(progress, fields))


def words_of(objectives: list[tuple[str, str]]) -> Words:
    """With several objectives, the best value is that of the first."""
    return Words(best=f"best {objectives[0][0]}") if len(objectives) > 1 else USUAL


def make_monitor(wanted: bool | None = None, words: Words = USUAL) -> Monitor:
    """``None``: a bar if standard output is a terminal or a notebook's cell, else nothing. True: a bar there, else
    lines. False: nothing.

    CULMEN_PROGRESS=bar, lines or none overrides this, unless ``wanted`` is False.
    """
    kind = os.environ.get("CULMEN_PROGRESS", "")
    if kind not in ("bar", "lines", "none"):
        kind = "bar" if on_terminal() or in_notebook() else "lines" if wanted else "none"
    if wanted is False or kind == "none":
        return Silent()
    if kind == "lines":
        return Lines(words)
    try:
        return Cell(words) if in_notebook() else Bar(words)
    except (OSError, SystemExit):  # rich exits when the output is closed
        return Silent()


class Silent:
    slice_s = 1.0

    def update(self, progress: _core.Progress) -> None:
        pass

    def close(self) -> None:
        pass


class Lines:
    """A plain line from time to time, for logs: the first after a second, then with growing gaps."""

    slice_s = 0.2

    def __init__(self, words: Words = USUAL) -> None:
        self._recent, self._words = Recent(), words
        self._due_s, self._gap_s = _FIRST_LINE_S, _FIRST_LINE_S

    def update(self, progress: _core.Progress) -> None:
        self._recent.see(progress)
        if progress.elapsed_s < self._due_s:
            return
        self._gap_s = min(self._gap_s * _LINE_GAP_GROWS, _LONGEST_GAP_S)
        self._due_s = progress.elapsed_s + self._gap_s
        parts = (
            counted(progress, self._words),
            *figures(progress, self._recent, self._words),
            clock(progress.elapsed_s),
        )
        print(f"culmen: {', '.join(parts)}", flush=True)

    def close(self) -> None:
        pass
