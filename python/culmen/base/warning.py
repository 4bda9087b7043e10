"""Warnings of culmen."""

import sys
import warnings


def warn(text: str, kind: type[Warning] = UserWarning) -> None:
    """Warns at the line of the program that called culmen."""
    level = 1
    while (frame := sys._getframe(level)).f_back and frame.f_globals.get("__name__", "").startswith("culmen."):
        level += 1
    warnings.warn(text, kind, stacklevel=level + 1)
