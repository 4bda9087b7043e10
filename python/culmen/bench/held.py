"""The lock of a folder for results. A tuner makes several studies there, and holds the folder between them, too."""

import errno
import fcntl
import os
import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .._core import InputError
from .kept import folder_of_results
from .study import refuse_in_use

LOCK = ".culmen-in-use"
_TAKEN = (errno.EWOULDBLOCK, errno.EACCES)


@contextmanager
def folder_to_tune(path: Path, stores_in: Callable[[Path], Iterable[Path]]) -> Iterator[Path]:
    """The same as ``folder_of_results``, but held. ``stores_in``: gives the stores of the tuner in the folder. Raises
    InputError if another process holds the folder, or if it measures in one of these stores."""
    with folder_of_results(path) as folder, held(folder):
        refuse_in_use(*stores_in(folder))  # other commands use a store, too, and a file system may have no locks
        yield folder


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keeps the folder for this process. Raises InputError if another process holds it.

    The kernel ends a lock together with its process, so a kill leaves no lock. NFS and most parallel file systems share
    the locks of all nodes. On a file system without locks, the block runs without one.
    """
    path = folder / LOCK
    file = _locked(path)
    try:
        yield
    finally:
        if file is not None:
            with suppress(OSError):
                path.unlink(missing_ok=True)
            os.close(file)


def _locked(path: Path) -> int | None:
    """The open file; None if the file system has no locks."""
    while True:
        file = _opened(path)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.pread(file, 1000, 0).decode(errors="replace") or "another process"
            os.close(file)
            if error.errno in _TAKEN:
                raise InputError(f"{path.parent} is in use: {owner} measures there") from None
            path.unlink(missing_ok=True)
            return None
        if _is_there(file, path):
            _sign(file)
            return file
        os.close(file)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise InputError(f"{path}: the file cannot be opened for writing: {error.strerror}") from None


def _is_there(file: int, path: Path) -> bool:
    """Whether the file was not removed before it was locked."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _sign(file: int) -> None:
    with suppress(OSError):  # a full disk; then nobody learns the owner's name
        os.ftruncate(file, 0)
        os.pwrite(file, f"host {platform.node()}, process {os.getpid()}".encode(), 0)
