"""A bar in a notebook's cell."""

import html
from dataclasses import dataclass
from typing import Any

from ... import _core
from .figures import USUAL, Recent, Words, layout

_CELL_REDRAW_S, _CELL_WIDTH = 0.25, 120


class Cell:
    """A bar in a notebook's cell, which changes in place."""

    slice_s = 0.1

    def __init__(self, words: Words = USUAL) -> None:
        self._recent, self._words, self._drawn_s = Recent(), words, -_CELL_REDRAW_S
        self._handle: Any = None

    def update(self, progress: _core.Progress) -> None:
        self._recent.see(progress)
        if progress.elapsed_s < self._drawn_s + _CELL_REDRAW_S and progress.phase != "done":
            return
        self._drawn_s = progress.elapsed_s
        text = layout(progress, self._recent, _CELL_WIDTH, self._words)[1]
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
    """The shown content of a cell; as text if the notebook shows no HTML."""

    evaluations: int
    budget: int  # 0: no budget, so no bar
    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        bar = f'<progress max="{self.budget}" value="{self.evaluations}"></progress> ' if self.budget else ""
        return f"{bar}<span>{html.escape(self.text)}</span>"
