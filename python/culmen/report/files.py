"""Writing what a user asked for, all of it or nothing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._core import InputError

_HEAD_BYTES = 4096
_STORE = b"SQLite format 3\0"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside it to write to, which takes its place when all went well.

    Raises InputError where that is a store, a folder, or not to be written.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder; -o wants a file")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {folder}")
    if path.is_file() and _is_store(path):
        raise InputError(f"{path} is a store, or another database, which would be lost; -o wants another file")
    if path.exists() and not path.is_file():  # /dev/stdout, a pipe
        yield path
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    except OSError as e:
        raise InputError(f"{path} cannot be written: {e.strerror or e}") from None
    finally:
        part.unlink(missing_ok=True)


def _is_store(path: Path) -> bool:
    return _head(path).startswith(_STORE)


def refuse_strange(path: Path, mark: str) -> None:
    """Raises InputError where another file than one with this mark in its beginning would be replaced unasked."""
    if path.exists() and mark.encode() not in _head(path):
        raise InputError(f"{path} exists and is no report of culmen; -o FILE names another, or this one to replace it")


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""
