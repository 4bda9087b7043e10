"""Writes a file that a user asked for, completely or not at all."""

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
    """A kind of file that culmen writes. ``is_one``: recognises such a file by its path and its first bytes."""

    name: str
    is_one: Callable[[Path, bytes], bool]


@contextmanager
def replacing(path: Path, made: "Kind", force: bool | None, option: str = "-o") -> Iterator[Path]:
    """A temporary path beside the file; it replaces the file after success.

    An existing file is replaced if it is of the kind that is ``made``, or with ``force``; a store or a study file is
    never replaced. ``force``: None if the command has no option --force. Raises InputError, which names ``option``,
    also for a folder or if the file cannot be written.
    """
    check_target(path, made, force, option)
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


def check_target(path: Path, made: Kind, force: bool | None, option: str = "-o") -> None:
    """Raises InputError as ``replacing`` does, before the content is made."""
    if str(path) == "-":
        raise InputError(f"{option} - stands for no file here; give {option} the name of a file")
    if path.is_dir():
        raise InputError(f"{path} is a folder; {option} needs the name of a file")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {folder}")
    if path.is_file():
        _refuse(path, made, force, option)


def _refuse(path: Path, made: "Kind", force: bool | None, option: str) -> None:
    """Raises InputError if this would overwrite a file of the user."""
    head = _head(path)
    if made.is_one(path, head):
        return
    kept = "store, or another database" if head.startswith(_STORE) else "study file" if path.suffix == ".toml" else ""
    if kept:
        raise InputError(f"{path} is a {kept}, which would be lost; give {option} another file")
    if head and not force:
        how = "remove this one" if force is None else "replace it with --force"
        raise InputError(f"{path} exists and is no {made.name} of culmen; name another file, or {how}")


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""
