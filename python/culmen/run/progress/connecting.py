"""The line of workers that connect to a run."""

import time
from typing import TYPE_CHECKING

from ...base.terminal import on_terminal

if TYPE_CHECKING:
    from rich.live import Live

_SHOWN_AFTER_S, _REDRAW_S = 1.0, 0.5


class Connecting:
    """Says that workers try to connect, and for how long, if this takes more than a second. On a terminal the line
    counts the seconds, and vanishes when the workers have joined. Otherwise it is printed once."""

    def __init__(self, address: str, patience_s: float, wanted: bool) -> None:
        self._address, self._patience_s = address, patience_s
        self._started_s = time.monotonic()
        self._due_s = self._started_s + _SHOWN_AFTER_S if wanted else float("inf")
        self._live: Live | None = None

    def look(self) -> None:
        """Call it from time to time."""
        now_s = time.monotonic()
        if now_s < self._due_s:
            return
        try:
            if on_terminal():
                self._due_s = now_s + _REDRAW_S
                self._draw(now_s - self._started_s)
            else:
                self._due_s = float("inf")
                print(f"{self._what()}; Ctrl-C ends this", flush=True)
        except (OSError, SystemExit):  # rich exits when a pipe is broken
            self._due_s = float("inf")

    def close(self) -> None:
        live, self._live, self._due_s = self._live, None, float("inf")
        if live is not None:
            live.stop()

    def _what(self) -> str:
        return f"Connecting to {self._address} for up to {self._patience_s:g} s"

    def _draw(self, waited_s: float) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        if self._live is None:
            self._live = Live(console=Console(force_terminal=True), auto_refresh=False, transient=True)
            self._live.start()
            self._live.console.show_cursor()
        self._live.update(Text(f"{self._what()}, {waited_s:.0f} s so far", no_wrap=True), refresh=True)
