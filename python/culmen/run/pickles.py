"""Pickles of functions for slots. Large pickles, for example of functions that captured arrays, are written once to a
file in memory. The slots of this machine map this file."""

import mmap
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from .. import _core
from .._core import InputError
from ..base.machine import available_bytes
from ..slot.shared import Shared
from .pickling import pickled_by_value

LARGE_BYTES = 1 << 20
_PAGE = mmap.PAGESIZE
_WINDOW_BYTES = 1 << 20
_AT_ONCE = 1 << 30  # the system writes less than 2 GiB at once


class Parts:
    """A pickle, and its large buffers as separate parts."""

    def __init__(self, value: Any) -> None:
        self.buffers: list[memoryview] = []
        self.head: bytes = pickled_by_value(value, self._keeps)
        self.large = bool(self.buffers) or len(self.head) >= LARGE_BYTES

    def _keeps(self, buffer: pickle.PickleBuffer) -> bool:
        """True if the buffer stays in the pickle."""
        raw = buffer.raw()
        if raw.nbytes < LARGE_BYTES:
            return True
        self.buffers.append(raw)
        return False

    def all(self) -> list[memoryview]:
        return [memoryview(self.head), *self.buffers]


class SharedParts:
    """The parts of a pickle in a file without a name."""

    def __init__(self, parts: Parts) -> None:
        self.spans = list(_spans(parts.all()))
        self.size = self.spans[-1][1]
        self._file = _file_with(parts.all(), self.spans)

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            os.close(self._file)

    def are(self, parts: Parts) -> bool:
        """Whether the content is the same."""
        wanted = parts.all()
        if list(_spans(wanted)) != self.spans:
            return False
        return all(_same(piece, self._file, begin) for piece, (begin, _) in zip(wanted, self.spans, strict=True))

    def pickle_of(self, wrap: Callable[[bytes], Any] | None = None) -> _core.Pickle:
        descriptor = os.dup(self._file)
        shared = Shared(f"/proc/{os.getpid()}/fd/{descriptor}", self.size, self.spans[1:])
        return _wrapped(pickle.dumps(shared, protocol=5), wrap, descriptor)


def pickle_of(value: Any, wrap: Callable[[bytes], Any] | None = None, shares: bool = True) -> _core.Pickle:
    """``wrap``: converts the pickle to the bytes that are sent. ``shares``: all slots are on this machine."""
    parts = Parts(value)
    if parts.large and shares and can_share():
        return SharedParts(parts).pickle_of(wrap)
    return in_one(value, parts, wrap)


def in_one(value: Any, parts: Parts, wrap: Callable[[bytes], Any] | None = None) -> _core.Pickle:
    return _wrapped(pickled_by_value(value) if parts.buffers else parts.head, wrap)


def can_share() -> bool:
    """Whether children can open files of this process. They cannot if the program has more rights than its user, or if
    the system has no /proc."""
    try:
        return Path(f"/proc/{os.getpid()}").stat().st_uid == os.geteuid()
    except OSError:
        return False


def _wrapped(pickled: bytes, wrap: Callable[[bytes], Any] | None, descriptor: int | None = None) -> _core.Pickle:
    return _core.Pickle(pickled if wrap is None else pickle.dumps(wrap(pickled), protocol=5), descriptor)


def _spans(pieces: list[memoryview]) -> Iterator[tuple[int, int]]:
    """The places of the pieces in the file. Each begins at a page boundary, like arrays that the system allocates."""
    end = 0
    for piece in pieces:
        begin = -(-end // _PAGE) * _PAGE
        end = begin + piece.nbytes
        yield begin, end


def _file_with(pieces: list[memoryview], spans: list[tuple[int, int]]) -> int:
    """The descriptor of a file with these pieces: in memory, or in TMPDIR if memory has no room."""
    size = spans[-1][1]
    with suppress(OSError):
        if hasattr(os, "memfd_create") and 2 * size <= available_bytes():
            return _written(os.memfd_create("culmen-data"), pieces, spans)
    folder = tempfile.gettempdir()
    try:
        with tempfile.TemporaryFile() as file:
            return _written(os.dup(file.fileno()), pieces, spans)
    except OSError as e:
        raise InputError(
            f"the function captured {size} bytes of data, but neither memory nor {folder} has room for them "
            f"({e.strerror}); set TMPDIR to a folder with more room, or let the function read its data from a file"
        ) from None


def _written(file: int, pieces: list[memoryview], spans: list[tuple[int, int]]) -> int:
    try:
        for piece, (begin, _) in zip(pieces, spans, strict=True):
            at = 0
            while at < piece.nbytes:
                at += os.pwrite(file, piece[at : at + _AT_ONCE], begin + at)
    except BaseException:
        os.close(file)
        raise
    return file


def _same(piece: memoryview, file: int, begin: int) -> bool:
    """Whether the file contains this piece. Reads the file without mapping it, because mapped pages would count as
    memory of this process."""
    window = bytearray(_WINDOW_BYTES)
    for at in range(0, piece.nbytes, _WINDOW_BYTES):
        wanted = piece[at : at + _WINDOW_BYTES]
        del window[wanted.nbytes :]
        if os.preadv(file, [window], begin + at) != wanted.nbytes or window != wanted:
            return False
    return True
