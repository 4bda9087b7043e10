"""The parameters of a search space."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from .. import _core
from .._core import InputError
from ..base.keywords import explained
from ..base.surrogates import refuse_surrogates
from ..base.text import shown
from .given import Value, checked_value, choices_of, pair_of, plain, single

_LARGEST = 2**53 - 1  # bound of an integer
_WORDS = {
    **dict.fromkeys(("low", "min", "minimum", "lb", "a"), "lower"),
    **dict.fromkeys(("high", "max", "maximum", "ub", "b"), "upper"),
    **dict.fromkeys(("default", "start", "x0", "init", "guess"), "initial"),
    **dict.fromkeys(("values", "options", "categories"), "choices"),
    **dict.fromkeys(("condition", "when", "active_if"), "active_when"),
}
_ANSWERS = {
    **dict.fromkeys(("log", "logarithmic"), 'write scale="log"'),
    "prior": 'write scale="log" for a logarithmic scale',
    **dict.fromkeys(("step", "q"), "write culmen.ordinal([…]) with all values, or culmen.integer(…)"),
    "name": 'the name is the key in the space, as in {"x": culmen.real(0, 1)}',
}


@dataclass(frozen=True)
class Parameter:
    """The allowed values of one parameter."""

    lower: float | None = None  # inclusive, in the parameter's own unit
    upper: float | None = None
    scale: str = "linear"  # "log": the search works in the parameter's logarithm
    type: str = "real"
    choices: Sequence[Value] | None = None
    initial: Value | None = None  # where the search starts
    active_when: str | None = None  # the parameter is left out if this condition on other parameters does not hold
    value: Value | None = None  # its only value: it is fixed


@explained("culmen.real", "culmen.real(0, 1)", _WORDS, _ANSWERS)
def real(
    lower: float | None = None,
    upper: float | None = None,
    scale: str = "linear",
    *,
    initial: float | None = None,
    active_when: str | None = None,
    value: float | None = None,
) -> Parameter:
    """A real number from ``lower`` to ``upper``. With ``scale="log"``, the search uses the logarithm of the parameter,
    and ``lower`` must be positive. With ``value``, the parameter is fixed at this value.

    You can leave out ``lower``, ``upper`` or both. The parameter then needs ``initial``, the value at which the search
    begins.
    """
    return Parameter(lower, upper, scale, initial=initial, active_when=active_when, value=value)


@explained("culmen.integer", "culmen.integer(1, 9)", _WORDS, _ANSWERS)
def integer(
    lower: float,
    upper: float,
    scale: str = "linear",
    *,
    initial: int | None = None,
    active_when: str | None = None,
    value: int | None = None,
) -> Parameter:
    """An integer from ``lower`` to ``upper``. ``scale`` and ``value`` are the same as for ``real``."""
    return Parameter(lower, upper, scale, "integer", initial=initial, active_when=active_when, value=value)


@explained("culmen.ordinal", "culmen.ordinal([16, 32, 64])", _WORDS, _ANSWERS)
def ordinal(
    choices: Sequence[Value],
    *,
    initial: Value = None,
    active_when: str | None = None,
    value: Value = None,
) -> Parameter:
    """One of ``choices``, which have an order: ``ordinal([16, 32, 64, 128])``. Each choice is a number, a string,
    True, False or None. The evaluator receives the choice with its type."""
    return Parameter(type="ordinal", choices=choices, initial=initial, active_when=active_when, value=value)


@explained("culmen.categorical", 'culmen.categorical(["ring", "tree"])', _WORDS, _ANSWERS)
def categorical(
    choices: Sequence[Value],
    *,
    initial: Value = None,
    active_when: str | None = None,
    value: Value = None,
) -> Parameter:
    """One of ``choices``, which have no order: ``categorical(["ring", "tree"])``. Each choice is a number, a string,
    True, False or None. The evaluator receives the choice with its type."""
    return Parameter(type="categorical", choices=choices, initial=initial, active_when=active_when, value=value)


@explained("culmen.boolean", "culmen.boolean()", _WORDS, _ANSWERS)
def boolean(*, initial: bool | None = None, active_when: str | None = None, value: bool | None = None) -> Parameter:
    """True or False."""
    return Parameter(type="boolean", initial=initial, active_when=active_when, value=value)


@explained("culmen.fixed", "culmen.fixed(3)", _WORDS, _ANSWERS)
def fixed(value: Value, *, active_when: str | None = None) -> Parameter:
    """A parameter with only one value. The optimizer does not vary the parameter. The evaluator receives the value."""
    given: Any = plain(single(value))
    return Parameter(type=type_of(given), active_when=active_when, value=given)


Bounds: TypeAlias = Parameter | tuple[float, float] | list[float]


def type_of(value: Any) -> str:
    """The type of a parameter for which only a value is given."""
    kinds = {bool: "boolean", int: "integer", str: "categorical"}
    return kinds.get(type(value), "real")


def type_at(kind: str, value: object) -> str:
    """The type of a parameter of this kind that has only a value, after it is fixed at another value."""
    return "real" if kind == "integer" and isinstance(value, float) and not value.is_integer() else kind


def to_core(name: str, bounds: Bounds) -> _core.Parameter:
    refuse_surrogates("the name of a parameter", name)
    p = bounds if isinstance(bounds, Parameter) else Parameter(*pair_of(name, bounds))
    refuse_surrogates(f"parameter '{name}'", p.choices, p.active_when, p.initial, p.value)
    p = replace(
        p,
        lower=single(p.lower),
        upper=single(p.upper),
        initial=checked_value(name, "initial", p.type, p.initial),
        value=checked_value(name, "value", p.type, p.value),
    )
    _check_texts(name, p)
    made = _made(name, p)
    made.active_when = p.active_when or ""
    made.fixed = p.value
    made.initial = p.initial if p.value is None else None
    return made


def _check_texts(name: str, p: Parameter) -> None:
    given: object = p.scale
    if not isinstance(given, str):
        raise InputError(f'parameter \'{name}\': scale must be "linear" or "log", got {given!r}')
    given = p.active_when
    if not isinstance(given, (str, type(None))):
        what = "a function" if callable(given) else repr(given)
        raise InputError(f"parameter '{name}': active_when must be a string such as 'x > 0', got {what}")


def check_alone(name: str, p: Parameter) -> None:
    """Raises InputError for mistakes that do not depend on the rest of the space."""
    to_core(name, p)


def _made(name: str, p: Parameter) -> _core.Parameter:
    if isinstance(p.value, float) and not math.isfinite(p.value):
        raise InputError(f"parameter '{name}': value = {p.value}: it must be a finite number")
    if p.type == "boolean":
        return _core.boolean(name)
    if p.type in ("ordinal", "categorical"):
        make = _core.ordinal if p.type == "ordinal" else _core.categorical
        return make(name, choices_of(name, [p.value] if p.choices is None and p.value is not None else p.choices))
    lower: Any = p.lower
    upper: Any = p.upper
    if p.value is not None and lower is upper is None:
        lower = upper = p.value
    elif p.value is not None and p.type == "integer":
        lower, upper = -_LARGEST if lower is None else lower, _LARGEST if upper is None else upper
    if p.type == "real" and (p.initial is not None or p.value is not None):
        lower, upper = -math.inf if lower is None else lower, math.inf if upper is None else upper
    elif p.type == "real" and (missing := _missing(lower, upper)):
        raise InputError(f"parameter '{name}': {missing} missing; without bounds, the parameter needs initial")
    try:
        lower, upper = float(lower), float(upper)
    except (TypeError, ValueError, OverflowError):
        if p.value is not None and p.lower is p.upper is None:
            raise InputError(f"parameter '{name}': value = {p.value!r}: it must be a number") from None
        raise InputError(f"parameter '{name}': the bounds must be numbers, got {p.lower!r} and {p.upper!r}") from None
    make_number = _core.integer if p.type == "integer" else _core.real
    return make_number(name, lower, upper, p.scale)


def _missing(lower: object, upper: object) -> str:
    words = [word for word, bound in (("lower", lower), ("upper", upper)) if bound is None]
    return f"{' and '.join(words)} {'are' if len(words) > 1 else 'is'}" if words else ""


def describe(p: _core.Parameter) -> str:
    """``real [0, 1] log``, ``categorical a, b``, ``fixed at 5``"""
    when = f" when {p.active_when}" if p.active_when else ""
    if p.fixed is not None:
        return f"fixed at {shown(p.fixed, 10)}{when}"
    kind = f"{p.kind} {', '.join(map(str, p.choices))}" if p.choices else p.kind
    if p.kind in ("real", "integer"):
        kind = f"{p.kind} [{p.lower:g}, {p.upper:g}] {p.scale}" if has_bounds(p) else f"{p.kind}{_only_bound(p)}"
    return kind + when


def has_bounds(p: _core.Parameter) -> bool:
    """Whether it has both bounds; a real parameter may lack one or both."""
    return math.isfinite(p.lower) and math.isfinite(p.upper)


def _only_bound(p: _core.Parameter) -> str:
    if math.isfinite(p.lower):
        return f" from {p.lower:g}"
    return f" up to {p.upper:g}" if math.isfinite(p.upper) else " without bounds"


def as_table(p: _core.Parameter) -> dict[str, Any]:
    """A table that makes the parameter again: ``Parameter(**as_table(p))``."""
    is_bounded = p.kind in ("real", "integer") and p.lower < p.upper
    bounds = {"lower": p.lower, "upper": p.upper, "scale": p.scale} if is_bounded else {}
    bounds = {key: bound for key, bound in bounds.items() if not (isinstance(bound, float) and math.isinf(bound))}
    further = {
        "choices": p.choices or None,
        "initial": p.initial,
        "active_when": p.active_when or None,
        "value": p.fixed,
    }
    return {"type": p.kind, **bounds, **{key: value for key, value in further.items() if value is not None}}
