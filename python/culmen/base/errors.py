"""Errors as users read them."""

import os

from .. import _core


def sentence(error: BaseException) -> str:
    """The message of an error for users."""
    if isinstance(error, _core.CulmenError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    text = " ".join(str(error).split())
    return f"{type(error).__name__}{': ' if text else ''}{text}"


def debugging() -> bool:
    """CULMEN_DEBUG=1 shows tracebacks."""
    return os.environ.get("CULMEN_DEBUG", "") not in ("", "0")
