"""What the commands of ``culmen bench`` do alike: a folder, a study of points, an end."""

import os
from collections.abc import Callable
from pathlib import Path

from ..._core import InputError
from ...bench.study import PointStudy
from ...run.progress.monitor import Monitor
from .codes import FAILED, FINISHED, RESUMABLE


def run_missing(
    study: PointStudy, points: int, done: int, what: str, begin: Callable[[], Monitor], quiet: bool
) -> bool:
    """Measures the points that the store does not have. False: a signal stopped it. ``what``: what the points are."""
    if done < points:
        return study.run(begin, RESUMABLE)
    if not quiet:
        print(f"All {done} {what} are in {study.store}; to measure again, write --overwrite")
    return True


def exit_code(whole: bool, failed: bool, what: str) -> int:
    if not whole:
        print(f"Not all {what} are measured; the same command continues.")
        return RESUMABLE
    return FAILED if failed else FINISHED


def remove_measurements(store: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        Path(f"{store}{ending}").unlink(missing_ok=True)


def folder_for(path: Path) -> Path:
    """The folder for results. Raises InputError if it cannot be made or written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise InputError(f"--output {path}: the folder cannot be made: {e.strerror}") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise InputError(f"--output {path}: the folder is not writable; give another one")
    return path
