"""A bar on a terminal."""

from ... import _core
from .figures import USUAL, Recent, Words, layout

_REDRAW_S = 0.1
_ROOM_FOR_CTRL_C = 3


class Bar:
    """A bar that redraws itself in place, also if standard output is a launcher's pipe to a terminal.

    It fits the terminal's width and does not hide the cursor: if the process ends in any way, nothing must be restored.
    """

    slice_s = 0.05

    def __init__(self, words: Words = USUAL) -> None:
        from rich.console import Console
        from rich.live import Live

        self._recent, self._words, self._drawn_s = Recent(), words, -_REDRAW_S
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
        room, text = layout(progress, self._recent, self._live.console.width - _ROOM_FOR_CTRL_C, self._words)
        row: list[Text | ProgressBar] = [Text(text, no_wrap=True)]
        if room:
            row.insert(0, ProgressBar(total=progress.budget, completed=progress.evaluations, width=room))
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_row(*row)
        self._live.update(grid, refresh=True)

    def close(self) -> None:
        self._live.stop()
