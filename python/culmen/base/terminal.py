"""The kind of standard output: a terminal, a notebook, or neither."""

import os
import shutil
import sys

from .. import _core


def on_terminal() -> bool:
    """True if a bar can be drawn.

    Open MPI always gives its ranks a terminal of their own. In such a terminal, and behind a launcher's pipe, only
    CULMEN_PROGRESS=bar means that a bar can be drawn.
    """
    return os.environ.get("CULMEN_PROGRESS") == "bar" or (sys.stdout.isatty() and not _core.detect_launch().is_rank)


def in_notebook() -> bool:
    """True if a Jupyter kernel runs this process: output is then displayed in a cell."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def draw_through_pipes() -> None:
    """If this is a terminal, ranks that this process starts draw a bar."""
    if on_terminal():
        os.environ.setdefault("CULMEN_PROGRESS", "bar")
        os.environ.setdefault("COLUMNS", str(shutil.get_terminal_size().columns))
