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
from pathlib import Path
from types import FrameType

from ..base.signals import STOP_SIGNALS, handling

_RANK_ZERO = (b"OMPI_COMM_WORLD_RANK=0", b"PMI_RANK=0")
_PR_SET_PDEATHSIG = 1
_LAUNCH_STARTS_S = 10  # looks for rank 0 are at most that far apart; then it is on another node
_WORKERS_END_S = 0.1  # after rank 0 is gone
_NAP_CHECK_S = 0.02


def supervise(command: list[str], environment: dict[str, str], naps: bool) -> int:
    """The launcher runs in a session of its own, out of reach of the terminal's Ctrl-C.

    Open MPI would kill its ranks a moment after it, and Hydra loses the exit code. A signal goes to the master alone,
    which ends the study cleanly; the next one goes to the launcher, which ends everything; a third kills the launcher.
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
        if naps:
            threading.Thread(target=_keep_awake, args=(child.pid, mark), daemon=True).start()
        code = child.wait()
    with contextlib.suppress(OSError, ValueError):
        code = int(said.read_text())
        said.unlink()
    return 128 - code if code < 0 else code


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
    """None where the launcher ended before it was seen."""
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
    """Whether the process ended within this time; None: wait for it."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(None if patience_s is None else patience_s * 1000))


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _rank_zero(mark: str) -> int | None:
    """The master's process: rank 0 of this launch, and no child of it. None before it is there, or on another node."""
    for folder in sorted(Path("/proc").glob("[0-9]*"), key=lambda folder: int(folder.name)):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in variables and _is_rank_zero(variables):
            return int(folder.name)
    return None


def _is_rank_zero(variables: list[bytes]) -> bool:
    return any(rank in variables for rank in _RANK_ZERO) and not any(v.startswith(b"CULMEN_RUN=") for v in variables)
