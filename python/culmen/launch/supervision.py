"""Runs the launcher's process: passes signals on, wakes it, and reads its exit code."""

import contextlib
import ctypes
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from ..base.signals import STOP_SIGNALS, handling
from .mpi import Mpi
from .rank_watch import RankWatch, rank_zero
from .ranks import LEFT_BEHIND

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class End:
    """How a launch ended."""

    code: int  #: the master's exit code, or the launcher's if the master had none; 128 + signal if it was killed
    signal: str | None = None  #: of the ranks that the launch lost
    lost: list[int] = field(default_factory=list)  #: one of them ended first, and ended early; empty if unknown


def supervise(command: list[str], environment: dict[str, str], mpi: Mpi, ranks: int) -> End:
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
        master = None if len(seen) > 1 else rank_zero(mark)
        os.kill(master or child.pid, signal.SIGTERM if len(seen) < 3 else signal.SIGKILL)

    with handling(STOP_SIGNALS, forward):
        child = subprocess.Popen(
            command,
            env={**os.environ, **environment, "CULMEN_LAUNCH": mark, "CULMEN_LAUNCH_CODE": str(said)},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=end_with_parent,
        )
        watch = RankWatch(mark, ranks, child.pid, mpi.naps, mpi.hasty)
        code = child.wait()
        first = watch.first()
    master, had_to_kill = _said_in(said)
    ended_well = master == 0 or had_to_kill
    by = _signal_in(code) if code > 0 and code != master and not ended_well and not seen else None
    is_unexplained = master is None and code > 0 and not seen
    if master is None:
        master = 128 - code if code < 0 else code
    return End(master, by, first if by or is_unexplained else [])


def _said_in(place: Path) -> tuple[int | None, bool]:
    """The master's exit code (None if there is none), and whether a rank remained that the launcher had to kill."""
    with contextlib.suppress(OSError, ValueError):
        code, _, more = place.read_text().partition(" ")
        place.unlink()
        return int(code), more == LEFT_BEHIND
    return None, False


def end_with_parent() -> None:
    """For preexec_fn: the child gets SIGTERM when its parent ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _signal_in(code: int) -> str | None:
    """The signal that a launcher's exit code stands for: 128 + signal from Open MPI, the signal from Hydra.

    Hydra also returns the exit codes of programs, which often are 1, 2 or 3.
    """
    with contextlib.suppress(ValueError):
        return signal.Signals(code - 128 if code > 128 else code).name if code > 3 else None
    return None
