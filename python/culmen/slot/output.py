"""The streams for what the user's code prints. The worker reads them, unless the study keeps no output."""

import contextlib
import os
import sys

_ALL, _FAILURES, NONE = 0, 1, 2
_STREAMS = (sys.stdout, sys.stderr)
_UNKNOWN = (1 << 64) - 1

_log = None  # a descriptor that stays when the user's code closes stdout; None if stdout is no file


def log_size():
    """All that was printed so far; the streams are flushed before."""
    try:
        return _UNKNOWN if _log is None else os.lseek(_log, 0, os.SEEK_END)
    except OSError:
        return _UNKNOWN


def write_lines():
    """One write for each line: after a crash, the worker has all complete lines. (With -u alone, Python writes each
    argument of print by itself.)"""
    global _log
    _log = os.dup(1)
    for stream in _STREAMS:
        stream.reconfigure(line_buffering=True, write_through=False)


def discard():
    """Nothing that is printed from now on leaves this process, also what C prints."""
    flush()
    null = os.open(os.devnull, os.O_WRONLY)
    for stream, descriptor in zip(_STREAMS, (1, 2), strict=True):
        os.dup2(null, descriptor)
        stream.reconfigure(line_buffering=False, write_through=False)
    os.close(null)


def flush():
    """Lines without an end; the user's code may have closed the streams."""
    for stream in _STREAMS:
        with contextlib.suppress(ValueError, OSError):
            stream.flush()
