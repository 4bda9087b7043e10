"""Waits for a command that may take too long, or that a signal interrupts. Then none of its processes is left."""

import math
import os
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

from ..base.pidfd import pidfd_open
from ..base.signals import STOP_SIGNALS, handling
from .supervision import end_with_parent

_GRACE_S = 5.0  # a launcher ends its ranks in this time
_LONGER, _MORE_S = 10, 60


class RunStoppedError(Exception):
    """A signal to this process has ended the run."""


class RunLateError(Exception):
    """The run took longer than its limit, and was ended. The text is a clause that says so."""


class _Stop(Exception):
    pass


def limit_for(first_s: float) -> float:
    """The usual limit in seconds, from the duration of a first run."""
    return float(math.ceil(_LONGER * first_s + _MORE_S))


def wait_for(command: Sequence[str], environment: Mapping[str, str], limit_s: float | None) -> int:
    """Returns its exit code. ``limit_s``: in seconds; None: no limit.

    The command runs in its own session, where the terminal's Ctrl-C reaches only this process. Raises RunStoppedError,
    RunLateError, and OSError if the command cannot be started.
    """
    seen: list[int] = []
    is_waiting = False

    def stop(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        if is_waiting:
            raise _Stop

    with handling(STOP_SIGNALS, stop):
        child = subprocess.Popen(command, env=environment, start_new_session=True, preexec_fn=end_with_parent)
        code = None
        with suppress(_Stop):
            is_waiting = True
            code = None if seen else _code_of(child, limit_s)
        is_waiting = False
        if code is None:
            _end(child)
    if seen:
        raise RunStoppedError
    if code is None:
        raise RunLateError(f"the program ran longer than {limit_s:g} s, and culmen ended it")
    return code


def _code_of(child: subprocess.Popen, limit_s: float | None) -> int | None:
    """None: it takes longer. ``Popen.wait`` with a limit looks only every 50 ms, which spoils measured times."""
    if limit_s is not None:
        end = pidfd_open(child.pid)
        try:
            if not select.select([end], [], [], limit_s)[0]:
                return None
        finally:
            os.close(end)
    return child.wait()


def _end(child: subprocess.Popen) -> None:
    """First asks the command, so that a launcher also ends its ranks on other nodes."""
    child.terminate()
    with suppress(subprocess.TimeoutExpired):
        child.wait(_GRACE_S)
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.getsid(int(process.name)) == child.pid:
                os.kill(int(process.name), signal.SIGKILL)
    child.wait()
