"""Descriptors of processes. Some builds of Python, such as conda's, lack the functions for them, so these make the
system calls (pidfd_open(2) and pidfd_send_signal(2), whose numbers are the same on all machines)."""

import ctypes
import os
import signal

_SEND_SIGNAL, _OPEN = 424, 434


def pidfd_open(pid: int) -> int:
    """Raises ProcessLookupError if there is no such process."""
    return os.pidfd_open(pid) if hasattr(os, "pidfd_open") else _call(_OPEN, pid, 0)


def pidfd_send_signal(pidfd: int, number: int) -> None:
    """Raises ProcessLookupError if the process has ended."""
    if hasattr(signal, "pidfd_send_signal"):
        signal.pidfd_send_signal(pidfd, number)
    else:
        _call(_SEND_SIGNAL, pidfd, number, 0, 0)


def _call(number: int, *arguments: int) -> int:
    result = ctypes.CDLL(None, use_errno=True).syscall(*map(ctypes.c_long, (number, *arguments)))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return int(result)
