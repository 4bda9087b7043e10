"""Which rank ended first in a launch that failed."""

import contextlib
import os
import select
import signal
import threading
import time
from pathlib import Path

_LAUNCH_STARTS_S = 10.0  # longest time between two looks for ranks; later they are on other nodes
_FIRST_LOOK_S = 0.1
_RANKS = (b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK=")


class Losses:
    """Watches the ranks of a launch on this node, in a thread of its own."""

    def __init__(self, mark: str, ranks: int) -> None:
        self._mark, self._ranks = f"CULMEN_LAUNCH={mark}".encode(), ranks
        self._watched: dict[int, int] = {}  # pidfd: rank
        self._first: list[int] = []
        self._end, self._ended = os.pipe()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def first(self) -> list[int]:
        """The ranks that ended first; more than one if they ended at the same time. Ends the watching."""
        os.close(self._ended)
        self._thread.join()
        return sorted(self._first)

    def _watch(self) -> None:
        poll = select.poll()
        poll.register(self._end, select.POLLHUP)
        limit = time.monotonic() + _LAUNCH_STARTS_S
        wait_s: float | None = _FIRST_LOOK_S
        while True:
            ready = [fd for fd, _ in poll.poll(None if wait_s is None else wait_s * 1000)]
            if self._first or ready:
                self._first = self._first or [self._watched[fd] for fd in ready if fd in self._watched]
                break
            self._look(poll)
            searching = len(self._watched) < self._ranks and time.monotonic() < limit
            wait_s = 1.5 * wait_s if wait_s and searching else None
        for fd in (*self._watched, self._end):
            os.close(fd)

    def _look(self, poll: select.poll) -> None:
        """Begins to watch the ranks that have started since the last look."""
        known = set(self._watched.values())
        for pid, rank in ranks_of(self._mark):
            if rank in known:
                continue
            with contextlib.suppress(OSError):
                fd = os.pidfd_open(pid)
                poll.register(fd, select.POLLIN)
                self._watched[fd] = rank


def ranks_of(mark: bytes) -> list[tuple[int, int]]:
    """(process id, rank) of each rank on this node, without the ranks' own children."""
    found = []
    for folder in sorted(Path("/proc").glob("[0-9]*"), key=lambda folder: int(folder.name)):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark in variables and (rank := rank_in(variables)) is not None:
            found.append((int(folder.name), rank))
    return found


def rank_in(variables: list[bytes]) -> int | None:
    """The rank whose environment this is; None for the launcher and for a rank's child."""
    if any(variable.startswith(b"CULMEN_RUN=") for variable in variables):
        return None
    ranks = (v.removeprefix(name) for name in _RANKS for v in variables if v.startswith(name))
    return next((int(rank) for rank in ranks if rank.isdigit()), None)


def signal_in(code: int) -> str | None:
    """The signal that a launcher's exit code stands for: 128 + signal from Open MPI, the signal from Hydra."""
    with contextlib.suppress(ValueError):
        return signal.Signals(code - 128 if code > 128 else code).name
    return None
