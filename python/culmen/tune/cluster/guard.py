"""Raises limits of the kernel on one node, and restores them. This file is a program that imports no other module of
culmen, so that a node needs only Python. The launcher starts one process on each node.

``hold`` starts the *guard*, a process that survives the end of the launch. The guard raises the limits, and restores
them when the first process, or the launcher's process on this node, has ended. The old values are also in a file, so
that ``restore`` can use them if the guard was killed.
"""

import ctypes
import errno
import fcntl
import json
import os
import select
import signal
import socket
import sys
import time
import zlib
from contextlib import suppress
from pathlib import Path

FILES = "culmen-limits-*.json"
MARK = "culmen-limits "  # before the report of a node, in one line
_LONGEST_RESTORE_S = 10.0
_OTHER_COMMAND_S = 2.0  # another command may be about to restore
_PIDFD_OPEN = 434  # the number of the system call, the same on all machines
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class NoLimits(Exception):
    """The limits cannot be raised or restored. The text is one sentence."""


class Kept:
    """The file with the old values, locked by one process at a time. ``limits``: the folder in which the kernel shows
    the limits. If a guard was killed, its file still contains the true old values."""

    def __init__(self, folder: Path, limits: Path, wait_s: float) -> None:
        self.path = folder / FILES.replace("*", f"{_network()}-{zlib.crc32(str(limits).encode()):x}")
        end = time.monotonic() + wait_s
        while True:
            self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._is_there():
                    return
            except OSError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES) or time.monotonic() > end:
                    raise NoLimits("another command of culmen has raised its limits") from None
                time.sleep(0.02)
            os.close(self._fd)

    def _is_there(self) -> bool:
        """Whether the file was not removed before it was locked."""
        try:
            return os.path.samestat(os.fstat(self._fd), self.path.stat())
        except FileNotFoundError:
            return False

    def read(self) -> dict:
        """For each limit, the value ``before``, and the value to which it was ``raised``."""
        text = os.pread(self._fd, 1 << 16, 0)
        try:
            return json.loads(text) if text else {}
        except ValueError:
            return {}  # the file is incomplete, so nothing was raised

    def write(self, values: dict) -> None:
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, json.dumps(values).encode(), 0)
        os.fsync(self._fd)

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
        os.close(self._fd)


def _network() -> int:
    """Identifies the node. Simulated nodes are on one machine, but each has its own network."""
    return Path("/proc/self/ns/net").stat().st_ino


def file_of(limits: Path, name: str) -> Path:
    return limits.joinpath(*name.split("."))


def value_of(limits: Path, name: str) -> int:
    try:
        return int(file_of(limits, name).read_text())
    except (OSError, ValueError):
        raise NoLimits(f"{name} cannot be read") from None


def set_value(limits: Path, name: str, value: int) -> None:
    try:
        file_of(limits, name).write_text(f"{value}\n")
    except OSError as error:
        raise NoLimits(f"{name} cannot be changed: {error.strerror}") from None


def raise_limits(kept: Kept, limits: Path, wanted: dict) -> dict:
    """Raises the limits that are lower than wanted. Returns the earlier values of all limits."""
    restore(kept, limits)  # a killed guard may have left raised limits
    before = {name: value_of(limits, name) for name in wanted}
    raised = {name: value for name, value in wanted.items() if before[name] < value}
    kept.write({name: {"before": before[name], "raised": value} for name, value in raised.items()})
    for name, value in raised.items():
        set_value(limits, name, value)
        if value_of(limits, name) != value:
            raise NoLimits(f"{name} cannot be changed: the kernel does not take {value}")
    return before


def restore(kept: Kept, limits: Path) -> None:
    """Restores the old values. A limit that somebody else has changed meanwhile keeps the new value."""
    for name, each in kept.read().items():
        if value_of(limits, name) == each["raised"]:
            set_value(limits, name, each["before"])


def guard(folder: Path, limits: Path, wanted: dict, parent: int, front: int, reports: int) -> None:
    """Raises the limits, waits, and restores them. ``parent``: pidfd of the launcher. ``front``: a pipe that is closed
    when the first process ends. ``reports``: a pipe for the report."""
    signals, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    for number in _SIGNALS:
        signal.signal(number, lambda *_: None)
    kept = Kept(folder, limits, _OTHER_COMMAND_S)
    try:
        before = raise_limits(kept, limits, wanted)
        os.write(reports, json.dumps({"before": before}).encode())
        os.close(reports)
        poll = select.poll()
        for fd in (parent, front, signals):
            poll.register(fd, select.POLLIN | select.POLLHUP)
        poll.poll()
    finally:
        restore(kept, limits)
        kept.remove()


def hold(folder: Path, limits: Path, wanted: dict) -> None:
    """Starts the guard. Returns when the guard has ended."""
    if os.getppid() == 1:
        return  # the launcher has already ended
    parent = pidfd_of(os.getppid())
    front, _own_end = os.pipe()  # its other end is open until this process ends
    reports, written = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.chdir("/")
        close_all_but(parent, front, written)
        try:
            guard(folder, limits, wanted, parent, front, written)
        except NoLimits as error:
            os.write(written, json.dumps({"error": str(error)}).encode())
        finally:
            os._exit(0)
    os.close(written)
    said = os.read(reports, 1 << 16)
    report(json.loads(said) if said else {"error": "the guard of the limits ended"})
    os.waitpid(pid, 0)
    if said and b'"before"' in said:
        give_back(folder, limits)  # the guard may have been killed


def pidfd_of(pid: int) -> int:
    """A pidfd of a process. Some builds of Python, such as conda's, have no ``os.pidfd_open``."""
    if hasattr(os, "pidfd_open"):
        return os.pidfd_open(pid)
    result = ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(_PIDFD_OPEN), ctypes.c_long(pid), ctypes.c_long(0))
    if result < 0:
        raise OSError(ctypes.get_errno(), "pidfd_open")
    return int(result)


def close_all_but(*kept: int) -> None:
    """Closes all other files. Otherwise the launcher waits for this process."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    for fd in [int(path.name) for path in Path("/proc/self/fd").iterdir()]:
        if fd > 2 and fd not in kept:
            with suppress(OSError):
                os.close(fd)


def give_back(folder: Path, limits: Path) -> None:
    """Waits until the guard has restored the limits. Restores them if the guard was killed."""
    kept = Kept(folder, limits, _LONGEST_RESTORE_S)
    try:
        restore(kept, limits)
    finally:
        kept.remove()


def report(values: dict) -> None:
    words = {"host": socket.gethostname(), **values}
    sys.stdout.write(f"{MARK}{json.dumps(words)}\n")
    sys.stdout.flush()


def main(words: list) -> None:
    """``words``: ``hold`` or ``restore``, the folder for the old values, the folder of the limits, and NAME=VALUE for
    each limit. In the folder of the limits, {host} stands for the name of the node."""
    folder, limits = Path(words[1]).absolute(), Path(words[2].replace("{host}", socket.gethostname())).absolute()
    wanted = {name: int(value) for name, _, value in (word.partition("=") for word in words[3:])}
    try:
        if words[0] == "hold":
            hold(folder, limits, wanted)
        else:
            give_back(folder, limits)
            report({"now": {name: value_of(limits, name) for name in wanted}})
    except NoLimits as error:
        report({"error": str(error)})


if __name__ == "__main__":
    main(sys.argv[1:])
