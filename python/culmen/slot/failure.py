"""Exceptions as text that helps: type, message, and where in the user's code."""

import os

_OWN_FOLDER = __file__[: __file__.rindex(os.sep) + 1]
_FRAMES = 5
_MESSAGE_CHARACTERS = 4000


def sentence(error):
    """``ValueError: negative mass``"""
    kind = type(error)
    plain = kind.__module__ in ("builtins", "__main__")
    name = kind.__qualname__ if plain else f"{kind.__module__}.{kind.__qualname__}"
    try:
        text = str(error)
    except Exception:
        text = "(its text cannot be made)"
    return f"{name}: {text[:_MESSAGE_CHARACTERS]}" if text else name


def describe(error):
    """The sentence, and the last few lines of the traceback that are not the slot's own."""
    import traceback  # not needed unless something fails

    frames = traceback.extract_tb(error.__traceback__)
    users = [frame for frame in frames if not _is_own(frame.filename)]
    return "\n".join([sentence(error), *(line.rstrip("\n") for line in traceback.format_list(users[-_FRAMES:]))])


def _is_own(filename):
    return filename.startswith((_OWN_FOLDER, "<frozen importlib"))
