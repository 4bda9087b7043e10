"""Tells the slot from copies of it that a user's function made by ``os.fork``, and ends the copies."""

import os
import sys

from culmen.slot import outcome, output
from culmen.slot.failure import describe


class Process:
    """The process that answers. A copy of it that returns from the user's code must not answer too."""

    def __init__(self):
        self._number = os.getpid()

    def call(self, function, arguments):
        """(returned value, None), or (None, the encoded failure)."""
        ended = outcome.call(function, arguments, self.end_copy)
        output.flush()
        return ended

    def end_copy(self, error=None):
        """Ends this process at once if it is a copy; ``error``: the exception of the user's code, if any."""
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
    """The exit code that Python would use; a text is printed on stderr."""
    if error is None:
        return 0
    wanted = error.code if isinstance(error, SystemExit) else describe(error)
    if wanted is None or isinstance(wanted, int):
        return (wanted or 0) & 0xFF
    print(wanted, file=sys.stderr)
    return 1
