"""Which process the slot is, and the end of those that a user's function made of it by ``os.fork``."""

import os
import sys

from culmen.slot import outcome
from culmen.slot.failure import describe


class Process:
    """The one that answers. A copy of it that came back from the user's code must not answer too."""

    def __init__(self):
        self._number = os.getpid()

    def call(self, function, arguments):
        """(what came back, None), or (None, the encoded failure)."""
        return outcome.call(function, arguments, self.end_copy)

    def end_copy(self, error=None):
        """Ends this process at once where it is a copy; ``error`` is what the user's code raised, if it did."""
        if os.getpid() != self._number:
            _end(error)


def _end(error):
    code = 1
    try:
        code = _exit_code(error)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    finally:
        os._exit(code)


def _exit_code(error):
    """As Python would leave with it; what is not a number goes to stderr."""
    if error is None:
        return 0
    wanted = error.code if isinstance(error, SystemExit) else describe(error)
    if wanted is None or isinstance(wanted, int):
        return (wanted or 0) & 0xFF
    print(wanted, file=sys.stderr)
    return 1
