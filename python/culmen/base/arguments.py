"""Checks of a program's arguments that are neither in a study file nor numbers."""

import errno
import os
from pathlib import Path
from typing import Any

from .._core import InputError
from .surrogates import half_of_a_character


def path_in(given: Any, what: str, example: str) -> Path:
    """Raises InputError, which begins with ``what``, if no file can have this path."""
    if not isinstance(given, (str, os.PathLike)):
        raise InputError(f"{what} must be the path of a file, such as '{example}', got {given!r:.80}")
    if why := wrong_path(given):
        raise InputError(f"{what}: {why}")
    return Path(given)


def wrong_path(given: str | os.PathLike[str]) -> str:
    """Why no file can have this path; empty if a file can."""
    path = Path(given)
    if "\0" in str(path):
        return f"the path {str(path)!r:.80} contains a null character; remove it"
    try:
        path.lstat()
    except OSError as e:
        if e.errno == errno.ENAMETOOLONG:
            return f"the path '{path!s:.40}…' is too long; give a shorter one"
    except UnicodeEncodeError:
        return half_of_a_character(str(path))
    return ""


def check_truth(what: str, given: Any, or_none: bool = False) -> None:
    """NumPy's truth values are allowed, too."""
    value = given.item() if getattr(given, "shape", None) == () else given
    if not isinstance(value, bool) and not (or_none and value is None):
        raise InputError(f"{what} must be True or False{', or None' * or_none}, got {given!r:.80}")
