"""Writing what a user asked for, all of it or nothing."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .._core import InputError

_HEAD_BYTES = 4096
_STORE = b"SQLite format 3\0"


@dataclass(frozen=True)
class Kind:
    """Of files that culmen writes. ``is_one``: whether a file is such, by its path and its first bytes."""

    name: str
    is_one: Callable[[Path, bytes], bool]


@contextmanager
def replacing(path: Path, made: "Kind", force: bool, option: str = "-o") -> Iterator[Path]:
    """A path beside it to write to, which takes its place when all went well.

    What is there already is replaced where it is of the kind that is ``made``, and with ``force``; a store or a study
    file never is. Raises InputError, which calls the path ``option``'s, also for a folder or what cannot be written.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder; {option} wants a file")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {folder}")
    if path.is_file():
        _refuse(path, made, force, option)
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


def _refuse(path: Path, made: "Kind", force: bool, option: str) -> None:
    """Raises InputError where something of value would be lost."""
    head = _head(path)
    kept = "store, or another database" if head.startswith(_STORE) else "study file" if path.suffix == ".toml" else ""
    if kept:
        raise InputError(f"{path} is a {kept}, which would be lost; {option} wants another file")
    if head and not force and not made.is_one(path, head):
        raise InputError(f"{path} exists and is no {made.name} of culmen; name another file, or --force replaces it")


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""
