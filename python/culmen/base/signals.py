"""Signals that end a study, and their handlers."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from .. import _core

STOP_SIGNALS: tuple[int, ...] = tuple(_core.STOP_SIGNALS)


@contextmanager
def stopping_on(
    signals: tuple[int, ...], stop: Callable[[], None], second: Callable[[int], None]
) -> Iterator[list[int]]:
    """The first of the signals calls ``stop``, a later SIGINT ``second``; yields the list of those that came.

    Does nothing outside the main thread.
    """
    seen: list[int] = []

    def handle(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        if len(seen) == 1:
            stop()
        elif number == signal.SIGINT:
            second(number)

    if threading.current_thread() is not threading.main_thread():
        yield seen
        return
    with handling(signals, handle):
        yield seen


@contextmanager
def handling(signals: tuple[int, ...], handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Inside, but for those that whoever started this process (nohup, a shell's &) has told it to ignore."""
    heard = [number for number in signals if signal.getsignal(number) is not signal.SIG_IGN]
    former = {number: signal.signal(number, handler) for number in heard}
    try:
        yield
    finally:
        for number, before in former.items():
            signal.signal(number, before)
