"""``culmen launch``: how to continue after a loss."""

import contextlib
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ... import _core
from ...run.study import Study

GivenToRun = Callable[[list[str]], dict[str, Any]]  # words after `culmen run`: its arguments by name


def how_to_continue(n: int, mpi: str | None, hosts: str | None, arguments: list[str], given_to_run: GivenToRun) -> str:
    """The end of a sentence; empty if the launch ran a program that is not culmen."""
    words = arguments
    if arguments[0] == "run":
        if (store := _store_of(given_to_run(arguments[1:]))) is None or not store.exists():
            return ""
        words = ["resume", str(store)]
    elif arguments[0] != "resume":
        return "; if the program has a store, start it again to resume"
    launch = [
        "culmen",
        "launch",
        "-n",
        str(n),
        *(["--mpi", mpi] if mpi else []),
        *(["--hosts", hosts] if hosts else []),
    ]
    return f"; to resume: {shlex.join([*launch, *words])}"


def _store_of(given: dict[str, Any]) -> Path | None:
    """The store of a ``culmen run`` with these arguments."""
    with contextlib.suppress(_core.InputError, OSError):
        return Path(Study.from_file(given["study"], store=given["store"]).options.store)
    return None
