"""Notes on standard error. None of them is an error."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import _core

if TYPE_CHECKING:  # `culmen status` does not need it, nor what it loads
    from ...run.study import Study

RESTART = "culmen run --overwrite"
ACCEPT = "to continue nevertheless, add --accept-changes"
_OPTIONS = {"threads": "--threads", "processes": "--worker-processes"}


def note_idle_options(given: dict[str, Any], place: str = "auto") -> None:
    """Names the options for local workers, which have no effect because the run has ranks."""
    options = [*(["--workers"] if given["workers"] else []), *filter(None, [_OPTIONS.get(place)])]
    if options:
        note(
            f"{' and '.join(options)} {'apply' if len(options) > 1 else 'applies'} to local workers; under MPI every "
            "rank except the first is a worker"
        )


def note_file_left_behind(study: "Study") -> None:
    """Names a file that the command will probably miss, before it runs."""
    if hint := _core.file_left_behind(study.config.evaluator):
        note(f"{study.source}: [evaluator] command: {hint}")


def restart_of(study: Path, fix: Mapping[str, str] | None, store: Path | None, seed: int | None) -> str:
    """The command that restarts a run with these options."""
    options = [word for name, value in (fix or {}).items() for word in ("--fix", f"{name}={value}")]
    options += ["--store", str(store)] if store else []
    options += ["--seed", str(seed)] if seed is not None else []
    return shlex.join(["culmen", "run", str(study), *options, "--overwrite"])


def note_change(change: str, restart: str = RESTART) -> None:
    """``change``: see Study.change."""
    if change:
        note(f"{change}; earlier values are kept unchanged; to restart, write `{restart}`")


def note(text: str) -> None:
    """Prints a note; does nothing if the text is empty."""
    if text:
        print(f"culmen: note: {text}", file=sys.stderr)
