"""Watches the ranks of a launch, to find which rank ended first, and when the master ended."""

import contextlib
import os
import select
import signal
import threading
import time
from pathlib import Path

from ..base.pidfd import pidfd_open, pidfd_send_signal

_LAUNCH_STARTS_S = 10.0  # ranks that have not started by then are on other nodes
_FIRST_LOOK_S = 0.1
_LONGEST_WAIT_S = 0.5  # between two looks for ranks
_WORKERS_END_S = 0.1  # after the end of rank 0
_NAP_CHECK_S = 0.02
_PF_EXITING = 4  # among the flags of /proc/PID/stat
_RANKS = (b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK=")


class RankWatch:
    """Watches the ranks of a launch on this node, in a thread of its own.

    ``naps``: the launcher sleeps for seconds after a failure of rank 0. It is woken as soon as the other ranks have had
    time to end. ``hasty``: the launcher ends the other ranks before the first one has ended.
    """

    def __init__(self, mark: str, ranks: int, launcher_pid: int, naps: bool = False, hasty: bool = False) -> None:
        self._mark, self._ranks, self._hasty = mark, ranks, hasty
        self._launcher = pidfd_open(launcher_pid) if naps else None
        self._watched: dict[int, int] = {}  # pidfd: rank
        self._pids: dict[int, int] = {}
        self._first: list[int] | None = None
        self._launcher_ends, self._launcher_ended = os.pipe()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def first(self) -> list[int]:
        """The ranks of which one ended first. Empty if this is not known, because it was on another node, or ended
        while ranks started.

        There are several if a hasty launcher ended others before this process noticed the first end. Call this method
        when the launcher has ended: it ends the watching.
        """
        os.close(self._launcher_ended)
        self._thread.join()
        for fd in (*self._watched, self._launcher_ends, *([self._launcher] if self._launcher is not None else [])):
            os.close(fd)
        return self._first or []

    def _watch(self) -> None:
        poll = select.epoll()  # unlike poll(), it returns the descriptors in the order in which they became ready
        poll.register(self._launcher_ends, select.EPOLLHUP)
        limit = time.monotonic() + _LAUNCH_STARTS_S
        wait_s: float | None = _FIRST_LOOK_S
        while True:
            ready = [fd for fd, _ in poll.poll(wait_s)]
            ended = [self._watched[fd] for fd in ready if fd in self._watched]
            if ended and self._first is None:
                self._first = self._lost(ended) if len(self._watched) == self._ranks else []
            if self._launcher_ends in ready:
                return
            if 0 in ended:
                self._keep_awake()
                return
            for fd in ready:
                poll.unregister(fd)
            self._look(poll)
            searching = len(self._watched) < self._ranks and time.monotonic() < limit
            wait_s = min(1.5 * wait_s, _LONGEST_WAIT_S) if wait_s and searching else None

    def _lost(self, ended: list[int]) -> list[int]:
        """``ended``: in the order of their ends, at least one. A hasty launcher may have ended them in another order,
        and also those that are about to end."""
        if not self._hasty:
            return ended[:1]
        return sorted(rank for fd, rank in self._watched.items() if _has_ended(fd) or _is_exiting(self._pids[rank]))

    def _look(self, poll: select.epoll) -> None:
        """Begins to watch the ranks that have started since the last look.

        Leaves out ranks that have already ended: they would seem to end after the watched ones.
        """
        known = set(self._watched.values())
        for pid, rank in _ranks_of(self._mark):
            if rank in known:
                continue
            with contextlib.suppress(OSError):
                fd = pidfd_open(pid)
                poll.register(fd, select.EPOLLIN)
                if _has_ended(fd):
                    os.close(fd)
                else:
                    self._watched[fd], self._pids[rank] = rank, pid

    def _keep_awake(self) -> None:
        """Wakes the launcher until it has ended. Rank 0 has ended."""
        if self._launcher is None:
            return
        poll = select.poll()
        poll.register(self._launcher_ends, select.POLLHUP)
        pause_s = _WORKERS_END_S
        while not poll.poll(pause_s * 1000):
            with contextlib.suppress(ProcessLookupError):
                pidfd_send_signal(self._launcher, signal.SIGCHLD)
            pause_s = _NAP_CHECK_S


def _has_ended(pidfd: int) -> bool:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(0))


def _is_exiting(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return True
    state, *fields = stat.rpartition(")")[2].split()
    return state in "ZX" or bool(int(fields[5]) & _PF_EXITING)


def rank_zero(mark: str) -> int | None:
    """The process of rank 0 in this launch, not a child of it. None if it has not started, or is on another node."""
    return next((pid for pid, rank in _ranks_of(mark) if rank == 0), None)


def _ranks_of(mark: str) -> list[tuple[int, int]]:
    """(process id, rank) of each rank on this node, without the ranks' own children."""
    found = []
    for folder in sorted(Path("/proc").glob("[0-9]*"), key=lambda folder: int(folder.name)):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"CULMEN_LAUNCH={mark}".encode() in variables and (rank := rank_in(variables)) is not None:
            found.append((int(folder.name), rank))
    return found


def rank_in(variables: list[bytes]) -> int | None:
    """The rank whose environment this is; None for the launcher and for a rank's child."""
    if any(variable.startswith(b"CULMEN_RUN=") for variable in variables):
        return None
    ranks = (v.removeprefix(name) for name in _RANKS for v in variables if v.startswith(name))
    return next((int(rank) for rank in ranks if rank.isdigit()), None)
