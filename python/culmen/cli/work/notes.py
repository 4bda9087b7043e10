"""Notes on standard error before a run. None of them is an error."""

import sys
from typing import Any

from ... import _core
from ...run.study import Study


def note_idle_option(given: dict[str, Any]) -> None:
    if given["workers"] and _core.detect_launch().is_rank:
        _note("--workers is for local workers; under MPI the ranks but the first work")


def note_file_left_behind(study: Study) -> None:
    """Of what a command is likely to miss, before it does."""
    if hint := _core.file_left_behind(study.config.evaluator):
        _note(f"{study.source}: [evaluator] command: {hint}")


def note_change(change: str) -> None:
    """``change``: see Study.change."""
    if change:
        _note(f"{change}; `culmen run --overwrite` begins anew")


def _note(text: str) -> None:
    print(f"culmen: note: {text}", file=sys.stderr)
