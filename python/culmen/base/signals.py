"""Signals that end a study, and their handlers."""

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

from .. import _core

STOP_SIGNALS: tuple[int, ...] = tuple(_core.STOP_SIGNALS)


def signals_of_program() -> tuple[int, ...]:
    """The signals that end a call of a program: SIGINT, and the other stop signals that the program does not handle
    itself."""
    return (signal.SIGINT, *(n for n in STOP_SIGNALS if n != signal.SIGINT and signal.getsignal(n) == signal.SIG_DFL))


def interrupt(_number: int) -> None:
    raise KeyboardInterrupt


def raise_again(seen: Iterable[int]) -> None:
    """Called after the call: raises again the signals that also end the program."""
    for number in seen:
        if number != signal.SIGINT:
            signal.raise_signal(number)


@contextmanager
def stopping_on(
    signals: tuple[int, ...], stop: Callable[[], None], second: Callable[[int], None]
) -> Iterator[list[int]]:
    """The first of the signals calls ``stop``; a later SIGINT calls ``second``. Yields the list of received signals.

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
    """Installs the handler inside the block. Signals that are ignored (by nohup, or by & in a shell) stay ignored. A
    handler that was not installed by Python cannot be restored: after the block, the default handler is active."""
    heard = [number for number in signals if signal.getsignal(number) is not signal.SIG_IGN]
    former = {number: signal.signal(number, handler) for number in heard}
    try:
        yield
    finally:
        for number, before in former.items():
            signal.signal(number, signal.SIG_DFL if before is None else before)
