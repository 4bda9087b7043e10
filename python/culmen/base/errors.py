"""Errors as users read them."""

import errno
import os

from .. import _core
from .again import same_command

_FULL = (errno.ENOSPC, errno.EDQUOT)


def sentence(error: BaseException) -> str:
    """The message of an error for users."""
    if isinstance(error, _core.CulmenError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, OSError) and error.errno in _FULL:
        where = f" for {error.filename}" if error.filename else ""
        return f"no space is left{where} ({error.strerror}); free space, then type {same_command()} again"
    text = " ".join(str(error).split())
    return f"{type(error).__name__}{': ' if text else ''}{text}"


def debugging() -> bool:
    """CULMEN_DEBUG=1 shows tracebacks."""
    return os.environ.get("CULMEN_DEBUG", "") not in ("", "0")
