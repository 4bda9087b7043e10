"""The launcher's process while it runs: it gets signals, is woken, and leaves an exit code."""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from ..base.signals import STOP_SIGNALS, handling
from .losses import Losses, ranks_of, signal_in

_PR_SET_PDEATHSIG = 1
_LAUNCH_STARTS_S = 10  # longest time between two looks for rank 0; later it is on another node
_WORKERS_END_S = 0.1  # after the end of rank 0
_NAP_CHECK_S = 0.02


@dataclass(frozen=True)
class End:
    """How a launch ended."""

    code: int  #: the master's exit code, or the launcher's if the master had none; 128 + signal if it was killed
    signal: str | None = None  #: of the ranks that the launch lost
    lost: list[int] = field(default_factory=list)  #: the ranks that ended first, because of a signal


def supervise(command: list[str], environment: dict[str, str], naps: bool, ranks: int) -> End:
    """Runs the launcher in its own session, where the terminal's Ctrl-C does not reach it.

    Otherwise Open MPI would kill its ranks a moment later, and Hydra would lose the exit code. The first signal goes
    only to the master, which stops the study cleanly. The second goes to the launcher, which ends all ranks; the third
    kills the launcher.
    """
    mark = f"{os.getpid()}.{time.monotonic_ns()}"
    said = Path(tempfile.gettempdir(), f"culmen-launch-{mark}")
    child: subprocess.Popen | None = None
    seen: list[int] = []

    def forward(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        if child is None:
            raise KeyboardInterrupt
        master = None if len(seen) > 1 else _rank_zero(f"CULMEN_LAUNCH={mark}")
        os.kill(master or child.pid, signal.SIGTERM if len(seen) < 3 else signal.SIGKILL)

    with handling(STOP_SIGNALS, forward):
        child = subprocess.Popen(
            command,
            env={**os.environ, **environment, "CULMEN_LAUNCH": mark, "CULMEN_LAUNCH_CODE": str(said)},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )
        losses = Losses(mark, ranks)
        if naps:
            threading.Thread(target=_keep_awake, args=(child.pid, mark), daemon=True).start()
        code = child.wait()
        first = losses.first()
    with contextlib.suppress(OSError, ValueError):
        code = int(said.read_text())
        said.unlink()
        return End(code)
    if code < 0:
        return End(128 - code)
    by = None if seen else signal_in(code)
    if 0 in first:  # the others end with the master
        first = [0]
    return End(code, by, first if by else [])


def _keep_awake(launcher_pid: int, mark: str) -> None:
    """Wakes a launcher that sleeps for seconds after a failure of rank 0, as soon as its ranks had time to end."""
    with contextlib.suppress(OSError), _pidfd(launcher_pid) as launcher:
        master = _awaited_rank_zero(launcher, mark)
        if master is None:
            return
        with _pidfd(master) as fd:
            _ended(fd, None)
        pause_s = _WORKERS_END_S
        while not _ended(launcher, pause_s):
            signal.pidfd_send_signal(launcher, signal.SIGCHLD)
            pause_s = _NAP_CHECK_S


def _awaited_rank_zero(launcher: int, mark: str) -> int | None:
    """None if the launcher ended before rank 0 was seen."""
    pause_s = 0.1
    while pause_s < _LAUNCH_STARTS_S and not _ended(launcher, pause_s):
        if master := _rank_zero(f"CULMEN_LAUNCH={mark}"):
            return master
        pause_s *= 1.5
    return None


@contextlib.contextmanager
def _pidfd(pid: int) -> Iterator[int]:
    fd = os.pidfd_open(pid)
    try:
        yield fd
    finally:
        os.close(fd)


def _ended(pidfd: int, patience_s: float | None) -> bool:
    """Whether the process ended within this time; None: no limit."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(None if patience_s is None else patience_s * 1000))


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _rank_zero(mark: str) -> int | None:
    """The process of rank 0 in this launch, not a child of it. None if it has not started, or is on another node."""
    return next((pid for pid, rank in ranks_of(mark.encode()) if rank == 0), None)
