"""Notes on standard error. None of them is an error."""

import sys
from typing import Any

from ... import _core
from ...run.study import Study


def note_idle_option(given: dict[str, Any]) -> None:
    if given["workers"] and _core.detect_launch().is_rank:
        note("--workers applies to local workers; under MPI every rank except the first is a worker")


def note_file_left_behind(study: Study) -> None:
    """Names a file that the command will probably miss, before it runs."""
    if hint := _core.file_left_behind(study.config.evaluator):
        note(f"{study.source}: [evaluator] command: {hint}")


def note_change(change: str) -> None:
    """``change``: see Study.change."""
    if change:
        note(f"{change}; to restart, write `culmen run --overwrite`")


def note(text: str) -> None:
    """Empty: there is nothing to note."""
    if text:
        print(f"culmen: note: {text}", file=sys.stderr)
