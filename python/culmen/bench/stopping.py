"""A signal that stops a command between two of its studies, or during its other work."""

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

from ..base.exit_codes import RESUMABLE
from ..base.signals import STOP_SIGNALS, handling


class StoppedError(Exception):
    """A signal stopped the command."""


class _Stopper:
    """The first signal raises StoppedError. After that, the command cleans up; only a further SIGINT ends it."""

    def __init__(self) -> None:
        self._seen = False

    def __call__(self, number: int, _frame: FrameType | None = None) -> None:
        if self._seen and number == signal.SIGINT:
            os._exit(RESUMABLE)
        if not self._seen:
            self._seen = True
            raise StoppedError


@contextmanager
def stoppable() -> Iterator[None]:
    """In this block, a signal raises StoppedError. Studies and programs that run in the block handle signals
    themselves."""
    with handling(STOP_SIGNALS, _Stopper()):
        yield


def stop_after(signals: Iterable[int]) -> None:
    """Raises StoppedError if one of these signals came, and if the command is stoppable."""
    for number in signals:
        if isinstance(stopper := signal.getsignal(number), _Stopper):
            stopper(number)
