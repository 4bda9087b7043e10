"""The kind of standard output: a terminal, a notebook, or neither."""

import os
import shutil
import sys

from .. import _core


def on_terminal() -> bool:
    """True if a bar can be drawn.

    Open MPI gives its ranks a terminal of their own in any case. There, and behind a launcher's pipe, only
    CULMEN_PROGRESS=bar means that there is a terminal.
    """
    return os.environ.get("CULMEN_PROGRESS") == "bar" or (sys.stdout.isatty() and not _core.detect_launch().is_rank)


def in_notebook() -> bool:
    """True if a Jupyter kernel runs this process: output is then displayed in a cell."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def draw_through_pipes() -> None:
    """If this is a terminal, the ranks that are started from here draw a bar."""
    if on_terminal():
        os.environ.setdefault("CULMEN_PROGRESS", "bar")
        os.environ.setdefault("COLUMNS", str(shutil.get_terminal_size().columns))
