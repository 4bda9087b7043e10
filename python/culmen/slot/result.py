"""Allowed results of a cost function: one number or a vector of residuals, alone or in a tuple with a dict of extras.

NumPy is not imported; its scalars and arrays are recognised by their attributes.
"""

import sys
from array import array

from culmen.slot.protocol import FIGURES, RESIDUALS, VALUE

_KEYS = 10  # in a message
_VECTOR = 'for a fit, set result = "residuals"; for several objectives, name them in objectives'


class WrongShapeError(Exception):
    """The message names the result and the allowed ones."""


def read_result(returned, result=VALUE, objectives=()):
    """(array of doubles, dict name -> float). One double, or the residuals. Raises WrongShapeError.

    With FIGURES, the dict holds all values, each objective under its name, and the double means nothing.
    """
    extras = {}
    if isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], dict):
        returned, figures = returned
        extras = {str(name): _extra(name, figure) for name, figure in figures.items()}
    if result == FIGURES:
        return array("d", (0.0,)), {**_figures(returned, objectives), **extras}
    numbers = _residuals(returned) if result == RESIDUALS else array("d", (_value(returned),))
    return numbers, extras


def _figures(returned, objectives):
    """A dict of values by name, or one number for each objective."""
    if isinstance(returned, dict):
        return {str(name): _extra(name, figure) for name, figure in returned.items()}
    if not objectives:  # expressions use these values
        number = number_of(returned)
        if number is None:
            raise WrongShapeError(
                f"the function returned {kind_of(returned)}; it must return a dict of numbers, or one"
            )
        return {"value": number}
    numbers = [number_of(returned)] if len(objectives) == 1 else None
    if _is_vector(returned) and len(returned) == len(objectives):
        numbers = [number_of(thing) for thing in returned]
    if numbers is None or None in numbers:
        names = ", ".join(objectives)
        wanted = f"a dict with the values {names}" if len(objectives) > 1 else f"one number, or a dict with {names}"
        also = f", or {len(objectives)} numbers in this order" if len(objectives) > 1 else ""
        raise WrongShapeError(f"the function returned {kind_of(returned)}; it must return {wanted}{also}")
    return dict(zip(objectives, numbers, strict=True))


def number_of(thing):
    """The float, or None if it is not one number. An array of one number is one."""
    if getattr(thing, "shape", ()) == (1,):
        thing = thing[0]
    if getattr(thing, "shape", ()) != () or not (hasattr(thing, "__float__") or hasattr(thing, "__index__")):
        return None
    if getattr(getattr(thing, "dtype", None), "kind", "") == "c":
        return None  # a NumPy complex number would lose its imaginary part
    try:
        return float(thing)
    except (TypeError, ValueError, OverflowError):
        return None


def _value(thing):
    number = number_of(thing)
    if number is None:
        raise WrongShapeError(f"the function returned {kind_of(thing)}; it must return one number{_hint(thing)}")
    return number


def _hint(thing):
    if thing is None:
        return " (is a return missing?)"
    if isinstance(thing, dict):
        keys = ", ".join(map(str, list(thing)[:_KEYS])) + (", …" if len(thing) > _KEYS else "")
        return f", or a tuple of it and a dict of further values; the keys {keys} as values need objectives"
    return f" ({_VECTOR})" if _is_vector(thing) else ""


def _extra(name, thing):
    if "\0" in str(name):
        raise WrongShapeError(f"the extra value {name!r}: its name contains a null character; remove it")
    number = number_of(thing)
    if number is None:
        raise WrongShapeError(f"the extra value {name!r} is {kind_of(thing)}; it must be one number")
    return number


def _residuals(thing):
    wanted = "it must return a vector of residuals that is not empty"
    if not _is_vector(thing):
        hint = _hint(thing) if thing is None else ' (one number needs result = "value")'
        raise WrongShapeError(f"the function returned {kind_of(thing)}; {wanted}{hint}")
    try:
        numbers = _doubles(thing)
    except (TypeError, ValueError, OverflowError) as error:
        raise WrongShapeError(
            f"the function returned {kind_of(thing)} whose entries are not all numbers ({error}); {wanted}"
        ) from None
    if not numbers:
        raise WrongShapeError(f"the function returned {kind_of(thing)}; {wanted}")
    return numbers


def _is_vector(thing):
    shape = getattr(thing, "shape", None)
    if shape is not None:
        return len(shape) == 1
    return hasattr(thing, "__len__") and hasattr(thing, "__iter__") and not isinstance(thing, (str, bytes, dict, set))


def _doubles(thing):
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(thing, "__array__"):
        if numpy.iscomplexobj(thing):
            raise TypeError("complex numbers")
        return array("d", numpy.asarray(thing, dtype="float64").tobytes())
    return array("d", thing)


def kind_of(thing):
    """``an array of shape (2, 3)``, ``a list of 3``, ``None``"""
    if thing is None:
        return "None"
    name = type(thing).__name__
    article = "an" if name[0] in "aeiouAEIOU" else "a"
    if getattr(thing, "shape", None) is not None:
        return f"{article} {name} of shape {tuple(thing.shape)}"
    if hasattr(thing, "__len__") and not isinstance(thing, str):
        return f"{article} {name} of {len(thing)}"
    return f"{article} {name} ({thing!r:.60})" if isinstance(thing, (str, complex)) else f"{article} {name}"
