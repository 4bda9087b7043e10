"""``culmen launch``: how to continue after a loss."""

import contextlib
import shlex
from pathlib import Path

from ... import _core
from ...run.study import Study


def how_to_continue(n: int, mpi: str | None, arguments: list[str]) -> str:
    """The end of a sentence; empty if the launch ran a program that is not culmen."""
    words = arguments
    if arguments[0] == "run":
        if (store := _store_of(arguments)) is None or not store.exists():
            return ""
        words = ["resume", str(store)]
    elif arguments[0] != "resume":
        return "; if the program has a store, start it again to resume"
    launch = ["culmen", "launch", "-n", str(n), *(["--mpi", mpi] if mpi else [])]
    return f"; to resume: {shlex.join([*launch, *words])}"


def _store_of(arguments: list[str]) -> Path | None:
    """The store of ``culmen run ARGUMENTS``."""
    given = None
    for word, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if word == "--store":
            given = following
        elif word.startswith("--store="):
            given = word.removeprefix("--store=")
    with contextlib.suppress(_core.InputError, StopIteration, OSError):
        return Path(Study.from_file(next(w for w in arguments if w.endswith(".toml")), store=given).options.store)
    return None
