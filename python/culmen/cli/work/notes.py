"""Notes on standard error. None of them is an error."""

import sys
from typing import Any

from ... import _core
from ...run.study import Study

ACCEPT = "to continue nevertheless, add --accept-changes"
_OPTIONS = {"threads": "--threads", "processes": "--worker-processes"}


def note_idle_options(given: dict[str, Any], place: str = "auto") -> None:
    """Names options for local workers; the run has ranks instead."""
    options = [*(["--workers"] if given["workers"] else []), *filter(None, [_OPTIONS.get(place)])]
    if options:
        note(
            f"{' and '.join(options)} {'apply' if len(options) > 1 else 'applies'} to local workers; under MPI every "
            "rank except the first is a worker"
        )


def note_file_left_behind(study: Study) -> None:
    """Names a file that the command will probably miss, before it runs."""
    if hint := _core.file_left_behind(study.config.evaluator):
        note(f"{study.source}: [evaluator] command: {hint}")


def note_change(change: str) -> None:
    """``change``: see Study.change."""
    if change:
        note(f"{change}; earlier values are kept unchanged; to restart, write `culmen run --overwrite`")


def note(text: str) -> None:
    """Empty: there is nothing to note."""
    if text:
        print(f"culmen: note: {text}", file=sys.stderr)
