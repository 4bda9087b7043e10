"""The kind of standard output: a terminal, a notebook, or neither."""

import os
import shutil
import sys

from .. import _core


def on_terminal() -> bool:
    """True where a bar can be drawn. Open MPI gives its ranks a terminal of its own whatever lies behind it: there, as
    where a launcher's pipe lies between, only CULMEN_PROGRESS=bar tells."""
    return os.environ.get("CULMEN_PROGRESS") == "bar" or (sys.stdout.isatty() and not _core.detect_launch().is_rank)


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this process: what is displayed there goes to a cell."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def draw_through_pipes() -> None:
    """Where this is a terminal, the ranks that are started from here draw a bar."""
    if on_terminal():
        os.environ.setdefault("CULMEN_PROGRESS", "bar")
        os.environ.setdefault("COLUMNS", str(shutil.get_terminal_size().columns))
