"""Programs and libraries of this machine."""

import os
import subprocess
from pathlib import Path

from .. import _core

_TIMEOUT_S = 20


def said_by(*words: str) -> str:
    """The output and errors of a command; empty if it cannot run or takes too long."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def own_library(name: str) -> Path:
    """The path of culmen's library with this name. The library may not have been built."""
    return Path(_folder(), f"libculmen_{name}.so")


def own_program(name: str) -> Path:
    """The same for a program."""
    return Path(_folder(), f"culmen_{name}")


def _folder() -> Path:
    return Path(os.environ.get("CULMEN_MODULE_DIR") or Path(_core.__file__).parent / "lib")
