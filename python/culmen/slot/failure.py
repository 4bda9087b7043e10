"""Exceptions as helpful text: type, message, and the place in the user's code."""

# ruff: noqa: PTH110, PTH117, PTH118 - pathlib takes too long to import

import os
import sys

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
        text = "(its message cannot be shown)"
    said = f"{name}: {text[:_MESSAGE_CHARACTERS]}" if text else name
    place = _where_it_is(error)
    return said.rstrip(".") + place if place else said


def _where_it_is(error):
    """Advice if a missing file is in the folder of the study file, where modules are sought but files are not."""
    if not isinstance(error, FileNotFoundError) or not sys.path[0]:
        return ""
    name = error.filename or str(error).removesuffix(" not found.")  # as NumPy says it
    if not isinstance(name, str) or os.path.isabs(name) or not os.path.exists(os.path.join(sys.path[0], name)):
        return ""
    return (
        f"; '{name}' is in {sys.path[0]}, but a relative path begins in the folder where culmen was started; "
        f"write pathlib.Path(__file__).parent / '{name}'"
    )


def describe(error, given=None):
    """The sentence, and the last few lines of the traceback without the slot's own.

    ``given``: the function's argument, for advice on mistakes with it.
    """
    import traceback  # needed only after a failure

    frames = traceback.extract_tb(error.__traceback__)
    users = [frame for frame in frames if not _is_own(frame.filename)]
    listed = any(frame.filename == _OWN_FOLDER + "callables.py" and frame.name == "__call__" for frame in frames)
    advice = _advice(error, given, len(users), listed) if type(given) is dict else ""
    return "\n".join(
        [sentence(error) + advice, *(line.rstrip("\n") for line in traceback.format_list(users[-_FRAMES:]))]
    )


def _advice(error, given, frames, listed=False):
    """Advice if the function itself, not a function that it calls, used its parameters wrongly.

    ``listed``: the function gets a list instead of a dict.
    """
    if any(hasattr(value, "__len__") and not isinstance(value, str) for value in given.values()):
        mistaken = isinstance(error, (TypeError, AttributeError, KeyError, IndexError)) or "truth value" in str(error)
        return _BATCH if mistaken else ""
    key = error.args[0] if error.args else None
    if isinstance(error, TypeError) and frames == 0:
        return f"; it is called with one argument, a {'list' if listed else 'dict'} of the parameters"
    if frames == 1 and (advice := _of_kind(error, given, listed)):
        return advice
    if isinstance(error, AttributeError) and getattr(error, "obj", None) is given:
        return f"; read a parameter as p['{error.name}']"
    if isinstance(error, KeyError) and frames == 1 and isinstance(key, (int, str)):
        if isinstance(key, int):
            return f"; the parameters have names: write p['{next(iter(given))}'], or give the space as a list of bounds"
        return f"; this candidate has the parameters {', '.join(given)}"
    if frames <= 2 and isinstance(error, (TypeError, AttributeError)) and str(error).startswith(_OF_ONE):
        return "; it is called for one candidate at a time: each parameter is one value (a vector only with batch)"
    return ""


def _of_kind(error, given, listed):
    """Advice if the function expects a list and gets a dict, or the reverse, or computes with either."""
    text, name = str(error), next(iter(given), "x")
    if listed and isinstance(error, TypeError):
        if text.startswith("list indices must be integers"):
            return _NAMED.format(name)
        return _NO_ARRAY if "'list'" in text and text.startswith(_OPERATORS) else ""
    if isinstance(error, KeyError) and error.args and type(error.args[0]) is int:
        return _NUMBERED.format(name, ", ".join(given))
    is_dict = isinstance(error, TypeError) and "'dict'" in text and text.startswith(_OPERATORS)
    return f"; the function receives a dict of the parameters; write p['{name}']" if is_dict else ""


_NAMED = (
    "; the bounds are a list, so the function receives a list of numbers; write p[0], or give the bounds as a dict "
    "such as {{'{}': (0, 1)}}"
)
_NUMBERED = (
    "; the function receives a dict of the parameters; write p['{}'], or list(p.values()) for a list; "
    "this candidate has the parameters {}"
)
_NO_ARRAY = "; the function receives a list of numbers; for an array, write p = numpy.array(p)"
_OPERATORS = ("unsupported operand", "bad operand", "can't multiply", "can only concatenate", "must be real number")
# messages of code that expects a vector
_OF_ONE = ("string indices must be integers", "'float' object ", "'int' object ")
_BATCH = (
    "; with batch it is called for many candidates at once: each parameter is a vector with one entry per candidate, "
    "and it must return a vector of their values"
)


def _is_own(filename):
    return filename.startswith((_OWN_FOLDER, "<frozen importlib"))
