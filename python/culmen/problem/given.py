"""Values and bounds from programs and command lines, of any type that represents a number."""

import operator
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from .._core import InputError
from ..base.surrogates import refuse_surrogates

Value: TypeAlias = bool | int | float | str | None  # None: a choice
_LARGEST_CHOICE = 2**63 - 1
_NUMBERS = ("b", "i", "u", "f")  # kinds of NumPy's types
_VALUES = {"real": "a number", "integer": "a whole number", "boolean": "True or False"}


def plain(value: Any) -> Any:
    """The value as a study file would contain it; converts NumPy's numbers and arrays, mappings and tuples."""
    if isinstance(value, type):  # a class has the methods of its objects
        return value
    if isinstance(value, Mapping):
        return {name: plain(single(inner)) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if hasattr(value, "__index__") and not isinstance(value, (int, bool)):
        return operator.index(value)
    return float(value) if hasattr(value, "__float__") and not isinstance(value, (int, float)) else value


def as_argument(value: Any) -> Any:
    """``plain``, but an array with one number becomes this number."""
    return plain(single(value) if getattr(getattr(value, "dtype", None), "kind", "") in _NUMBERS else value)


def single(value: Any) -> Any:
    """The number in an array with only one number; any other value unchanged."""
    return value.item() if getattr(value, "shape", None) == (1,) else value


def is_list(given: object) -> bool:
    """Whether it can be iterated and is not a text. An array without dimensions has the method ``__iter__``, but cannot
    be iterated."""
    return isinstance(given, Iterable) and not isinstance(given, (str, bytes, type)) and getattr(given, "ndim", 1) > 0


def checked_value(name: str, key: str, kind: str, given: object) -> Any:
    """Without NumPy's types and arrays of one number."""
    value = plain(single(given))
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        raise InputError(f"parameter '{name}': {key}: the number has too many digits")
    if isinstance(value, (bool, int, float, str, type(None))):
        return value
    raise InputError(f"parameter '{name}': {key}: it must be {_VALUES.get(kind, 'one of its choices')}, got {given!r}")


def check_fix(values: object) -> None:
    if not isinstance(values, Mapping):
        raise InputError(f"fix must be a dict such as {{'x': 1.0}}, got {values!r}")


def value_to_fix(name: str, kind: str, value: object) -> Any:
    """The value without NumPy's types and arrays of one number. Raises InputError if no parameter can be fixed at this
    value."""
    refuse_surrogates(f"parameter '{name}'", value)
    if value is None:
        raise InputError(f"parameter '{name}' cannot be fixed at None; leave it out of the space instead")
    return checked_value(name, "value", kind, value)


def value_of_text(text: str, kind: str, choices: Sequence[Value] | None) -> Value:
    """The value that a user wrote on the command line, or the text itself if it is not a value of this kind."""
    truth = {"true": True, "false": False}.get(text.lower(), text)
    if kind == "boolean":
        return truth
    if choices is not None and text in choices:
        return text
    if any(choice is truth for choice in choices or ()):
        return truth
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text


def choices_of(name: str, choices: object) -> list[Value]:
    if isinstance(choices, Mapping) or not is_list(choices):
        raise InputError(f"parameter '{name}': choices must be a list of strings or numbers, got {choices!r}")
    return [_choice(name, choice) for choice in choices]  # type: ignore[attr-defined]


def _choice(name: str, given: object) -> Value:
    choice = plain(given)
    if not (choice is None or isinstance(choice, (bool, int, float, str))):
        raise InputError(
            f"parameter '{name}': each choice must be a string, a number, True, False or None, got {given!r}"
        )
    if isinstance(choice, int) and abs(choice) > _LARGEST_CHOICE:
        raise InputError(f"parameter '{name}': the choice {choice} has too many digits; write it as a string")
    return choice


def pair_of(name: str, bounds: Any) -> tuple[float, float]:
    if isinstance(bounds, (list, tuple)) and len(bounds) > 1 and all(isinstance(bound, str) for bound in bounds):
        choices = f"{list(bounds)!r}" if len(repr(bounds)) < 80 else "…"
        raise InputError(f"parameter '{name}': got {bounds!r:.80}; write culmen.categorical({choices})")
    if wanted := _meant(bounds):
        raise InputError(f"parameter '{name}': got {bounds!r:.80}; write culmen.{wanted}")
    lower: float
    upper: float
    try:
        lower, upper = bounds
    except (TypeError, ValueError):
        raise InputError(
            f"parameter '{name}': it must be a pair (lower, upper) or one of culmen.real(…), integer, ordinal, "
            f"categorical, boolean and fixed, got {bounds!r:.80}"
        ) from None
    return single(lower), single(upper)


def _meant(bounds: Any) -> str:
    """The call that the user most likely means by a single value, a table of a study file, a range, or bounds and a
    word. Empty if no call fits."""
    if isinstance(bounds, Mapping) and "value" in bounds:
        return f"fixed({bounds['value']!r:.60})"
    if isinstance(bounds, Mapping) and {"lower", "upper"} & {*bounds}:
        given = ", ".join(f"{key}={bounds[key]!r:.60}" for key in ("lower", "upper", "initial") if key in bounds)
        return f"real({given})"
    if isinstance(bounds, (bool, int, float, str)):
        return f"fixed({bounds!r:.60})"
    if isinstance(bounds, range):
        first, last = min(bounds, default=0), max(bounds, default=0)
        return f"integer({first}, {last})" if abs(bounds.step) == 1 else f"ordinal({list(bounds)!r:.60})"
    if not isinstance(bounds, (list, tuple)) or len(bounds) != 3:
        return ""
    lower, upper, word = bounds
    if word != "log" or not all(isinstance(bound, (int, float)) for bound in (lower, upper)) or upper <= 0:
        return ""
    return f'real({lower if lower > 0 else upper / 10!r}, {upper!r}, scale="log")'
