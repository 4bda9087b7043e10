"""``culmen status --watch``."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.text import Text

from ...base.exit_codes import FAILED, FINISHED, RESUMABLE
from ...base.signals import handling
from ...base.terminal import on_terminal
from ...base.text import clock, per_second
from ...store.opening import Opened
from .summary import console, state_of, views

INTERRUPTED = 128 + signal.SIGINT


def watch_status(store: Path, every_s: float, digits: int | None = None) -> int:
    """Watches until the study no longer runs, or until Ctrl-C, which does not stop the study.

    Returns 0 for a finished study, 1 if all its evaluations failed, 75 if it can be resumed, 130 after Ctrl-C.
    """
    leave = threading.Event()
    pace = Pace()
    with handling((signal.SIGINT,), lambda _number, _frame: leave.set()), _shown(digits) as show:
        while True:
            state = state_of(Opened(store, "status"))
            show(state, pace.see(state))
            if not state["owned"]:
                return _code(state)
            if leave.wait(every_s):
                return INTERRUPTED


class Pace:
    """Evaluations per second since the last look, and the remaining time at this pace."""

    def __init__(self) -> None:
        self._before: tuple[float, int] | None = None

    def see(self, state: dict[str, Any], now_s: float | None = None) -> str:
        now = time.monotonic() if now_s is None else now_s
        before, self._before = self._before, (now, state["told"])
        if before is None or now <= before[0] or state["told"] < before[1] or not state["owned"]:
            return ""
        rate = (state["told"] - before[1]) / (now - before[0])
        left = (state["limit"] or 0) - state["told"]
        return per_second(rate) + (f", {clock(left / rate)} left at this pace" if rate and left > 0 else "")


def _code(state: dict[str, Any]) -> int:
    if not state["finished"]:
        return RESUMABLE
    return FAILED if state["best_value"] is None and state["failed"] else FINISHED


@contextlib.contextmanager
def _shown(digits: int | None) -> Iterator[Any]:
    """Redraws in place on a terminal; elsewhere prints a line for each change, and everything at the end."""
    if not on_terminal():
        yield _Lines(digits).show
        return
    from rich.live import Live  # slow to import, and only --watch needs it

    with Live(console=console(), auto_refresh=False) as live:
        live.console.show_cursor()  # if the process ends in any way, nothing must be restored

        def show(state: dict[str, Any], pace: str) -> None:
            live.update(Group(*views(state, digits), Text(pace)), refresh=True)

        yield show


class _Lines:
    def __init__(self, digits: int | None) -> None:
        self._last, self._digits = "", digits

    def show(self, state: dict[str, Any], pace: str) -> None:
        best = "none" if state["best_value"] is None else f"{state['best_value']:.6g}"
        parts = [state["state"], f"{state['told']} evaluations, best {best}", f"{state['failed']} failed", pace]
        if not state["failed"]:
            parts.remove("0 failed")
        line = ", ".join(filter(None, parts))
        if line != self._last:
            print(f"culmen: {line}", flush=True)
        self._last = line
        if not state["owned"]:
            for view in views(state, self._digits):
                console().print(view)
