"""What a cost function may return: one number or a vector of residuals, alone or in a tuple with a dict of extras.

NumPy is not imported; its scalars and arrays are known by what they can do.
"""

import sys
from array import array


class WrongShapeError(Exception):
    """Says what came and what is wanted."""


def read_result(returned, wants_residuals):
    """(array of doubles, dict name -> float). One double, or the residuals. Raises WrongShapeError."""
    extras = {}
    if isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], dict):
        returned, figures = returned
        extras = {str(name): _extra(name, figure) for name, figure in figures.items()}
    numbers = _residuals(returned) if wants_residuals else array("d", (_value(returned),))
    return numbers, extras


def _number(thing):
    """The float, or None where it is not one number."""
    if getattr(thing, "shape", ()) != () or not (hasattr(thing, "__float__") or hasattr(thing, "__index__")):
        return None
    try:
        return float(thing)
    except (TypeError, ValueError, OverflowError):
        return None


def _value(thing):
    number = _number(thing)
    if number is None:
        hint = ' (a vector needs result = "residuals")' if _is_vector(thing) else ""
        raise WrongShapeError(f"the function returned {_kind(thing)}; one number is wanted{hint}")
    return number


def _extra(name, thing):
    number = _number(thing)
    if number is None:
        raise WrongShapeError(f"the extra figure {name!r} is {_kind(thing)}; one number is wanted")
    return number


def _residuals(thing):
    wanted = "a vector of residuals, not empty, is wanted"
    if not _is_vector(thing):
        raise WrongShapeError(f"the function returned {_kind(thing)}; {wanted}")
    try:
        numbers = _doubles(thing)
    except (TypeError, ValueError, OverflowError) as error:
        raise WrongShapeError(
            f"the function returned {_kind(thing)} that does not hold numbers only ({error}); {wanted}"
        ) from None
    if not numbers:
        raise WrongShapeError(f"the function returned {_kind(thing)}; {wanted}")
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


def _kind(thing):
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
