"""The search space: named parameters, and constraints on them."""

import copy
import math
import operator
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from .. import _core
from .._core import InputError
from ..base.surrogates import refuse_surrogates
from ..base.text import did_you_mean, shown

Value: TypeAlias = bool | int | float | str | None  # None: a choice
Constraints: TypeAlias = Mapping[str, str] | Sequence[str]


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


def real(
    lower: float | None = None,
    upper: float | None = None,
    scale: str = "linear",
    *,
    initial: float | None = None,
    active_when: str | None = None,
    value: float | None = None,
) -> Parameter:
    """A real number from ``lower`` to ``upper``. ``scale="log"``: the search uses its logarithm, and ``lower`` must be
    positive. ``value``: the parameter is fixed at this value.

    Without ``lower`` or ``upper``, the parameter has no bound on that side. It then needs ``initial``, at which the
    search begins.
    """
    return Parameter(lower, upper, scale, initial=initial, active_when=active_when, value=value)


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


def ordinal(
    choices: Sequence[Value],
    *,
    initial: Value = None,
    active_when: str | None = None,
    value: Value = None,
) -> Parameter:
    """One of ``choices``, which have an order: ``ordinal([16, 32, 64, 128])``. Each is a number, a string, True, False
    or None. The evaluator receives it with its type."""
    return Parameter(type="ordinal", choices=choices, initial=initial, active_when=active_when, value=value)


def categorical(
    choices: Sequence[Value],
    *,
    initial: Value = None,
    active_when: str | None = None,
    value: Value = None,
) -> Parameter:
    """One of ``choices``, which have no order: ``categorical(["ring", "tree"])``. Each is a number, a string, True,
    False or None. The evaluator receives it with its type."""
    return Parameter(type="categorical", choices=choices, initial=initial, active_when=active_when, value=value)


def boolean(*, initial: bool | None = None, active_when: str | None = None, value: bool | None = None) -> Parameter:
    """True or False."""
    return Parameter(type="boolean", initial=initial, active_when=active_when, value=value)


def fixed(value: Value, *, active_when: str | None = None) -> Parameter:
    """A parameter with only one value. The optimizer does not vary it, and the evaluator receives it."""
    given: Any = plain(_one(value))
    return Parameter(type=type_of(given), active_when=active_when, value=given)


def type_of(value: Any) -> str:
    """The type of a parameter for which only a value is given."""
    kinds = {bool: "boolean", int: "integer", str: "categorical"}
    return kinds.get(type(value), "real")


Bounds: TypeAlias = Parameter | tuple[float, float] | list[float]

_LARGEST = 2**53 - 1  # bound of an integer
_LARGEST_CHOICE = 2**63 - 1
_NUMBERS = ("b", "i", "u", "f")  # kinds of NumPy's types


class Space:
    """Named parameters in a fixed order, and constraints on them. Examples::

        culmen.Space({"tau": culmen.real(1e-6, 1, scale="log"), "n": culmen.integer(1, 9), "x": (0, 1)})
        culmen.Space([(0, 1), (0, 1)], constraints=["x0 + x1 <= 1"])

    ``fixing`` gives the same space with some parameters fixed.

    A pair ``(lower, upper)`` is a real parameter. Parameters in a list have the names x0, x1 and so on. ``constraints``
    are expressions in a list, or in a dict by name.

    Raises InputError for wrong bounds and for a constraint or condition that cannot be read.
    """

    core: _core.Space
    positional: bool  # the user gave no names

    def __init__(
        self, parameters: "Mapping[str, Bounds] | Iterable[Bounds] | Space", constraints: Constraints | None = None
    ) -> None:
        refuse_surrogates("constraints", constraints)
        if isinstance(parameters, Space):
            self.core, self.positional = parameters.core, parameters.positional
            if more := _named(constraints):
                self.core = _core.Space(self.core.all, [*self.core.constraints, *more])
            return
        if not _is_list(parameters):
            raise InputError(
                f"the space must be a dict such as {{'x': (0, 1)}}, or a list of pairs, got {parameters!r}"
            )
        self.positional = not isinstance(parameters, Mapping)
        named = parameters if isinstance(parameters, Mapping) else {f"x{i}": b for i, b in enumerate(parameters)}
        self.core = _core.Space([_to_core(str(name), bounds) for name, bounds in named.items()], _named(constraints))
        if self.positional and self.core.conditional:
            raise InputError("active_when needs parameters with names: give the space as a dict")

    @property
    def names(self) -> list[str]:
        """All names, with those of fixed parameters."""
        return [p.name for p in self.core.all]

    def fixing(self, values: Mapping[str, Value] | None) -> "Space":
        """The same space with these parameters fixed at these values. Raises InputError."""
        out = copy.copy(self)
        out.core = self.core if values is None else fixing(self.core, values)
        return out

    def __len__(self) -> int:
        return len(self.core.all)

    def __repr__(self) -> str:
        return f"Space({', '.join(f'{p.name}: {describe(p)}' for p in self.core.all)})"


def fixing(space: _core.Space, values: Mapping[str, Value]) -> _core.Space:
    """The same space with these parameters fixed at these values. Raises InputError."""
    check_fix(values)
    known = {p.name: p for p in space.all}
    for name, value in values.items():
        if name not in known:
            raise InputError(no_such_parameter(name, known))
        known[name] = _fixed_at(known[name], value)
    return _core.Space(list(known.values()), space.constraints) if values else space


def check_fix(values: object) -> None:
    if not isinstance(values, Mapping):
        raise InputError(f"fix must be a dict such as {{'x': 1.0}}, got {values!r}")


def _fixed_at(p: _core.Parameter, value: object) -> _core.Parameter:
    """The parameter with this value. A value without bounds or choices beside it is replaced as a whole."""
    given = value_to_fix(p.name, p.kind, value)
    if p.fixed is not None and (p.choices == [p.fixed] or p.lower == p.upper == p.fixed):
        return _to_core(p.name, Parameter(type=type_at(p.kind, given), active_when=p.active_when, value=given))
    p.initial, p.fixed = None, given
    return p


def value_to_fix(name: str, kind: str, value: object) -> Any:
    """Without NumPy's types and arrays of one number. Raises InputError for what no parameter can be fixed at."""
    refuse_surrogates(f"parameter '{name}'", value)
    if value is None:
        raise InputError(f"parameter '{name}' cannot be fixed at None; leave it out of the space instead")
    return _checked_value(name, "value", kind, value)


def type_at(kind: str, value: object) -> str:
    """The type of a parameter of this kind that has only a value, when it is fixed at another value."""
    return "real" if kind == "integer" and isinstance(value, float) and not value.is_integer() else kind


def no_such_parameter(name: str, known: Iterable[str]) -> str:
    """For one that a user wants to fix."""
    names = list(known)
    near = did_you_mean(str(name), names) or f"; the parameters are {', '.join(names)}"
    return f"there is no parameter '{name}' that could be fixed{near}"


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
    """Both; a real parameter may lack one or both."""
    return math.isfinite(p.lower) and math.isfinite(p.upper)


def _only_bound(p: _core.Parameter) -> str:
    if math.isfinite(p.lower):
        return f" from {p.lower:g}"
    return f" up to {p.upper:g}" if math.isfinite(p.upper) else " without bounds"


def value_of_text(text: str, kind: str, choices: Sequence[Value] | None) -> Value:
    """The value that a user wrote on the command line. If it is no value of this kind, the text itself."""
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


def values_of_texts(space: _core.Space, texts: Mapping[str, str]) -> dict[str, Value]:
    """``value_of_text`` for parameters by name. The texts for unknown names are unchanged."""
    known = {p.name: p for p in space.all}
    return {
        name: value_of_text(text, known[name].kind, known[name].choices) if name in known else text
        for name, text in texts.items()
    }


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


def _named(constraints: Constraints | None) -> list[tuple[str, str]]:
    if constraints is None or (isinstance(constraints, str) and not constraints):
        return []
    given: Any = constraints if _is_list(constraints) else [constraints]
    pairs = given.items() if isinstance(given, Mapping) else [(text, text) for text in given]
    for _name, text in pairs:
        if not isinstance(text, str):
            given = "a function" if callable(text) else repr(text)
            raise InputError(f"constraints must be strings such as 'x + y <= 1', got {given}")
    return [(str(name), text) for name, text in pairs]


def _to_core(name: str, bounds: Bounds) -> _core.Parameter:
    refuse_surrogates("the name of a parameter", name)
    p = bounds if isinstance(bounds, Parameter) else Parameter(*_pair(name, bounds))
    refuse_surrogates(f"parameter '{name}'", p.choices, p.active_when, p.initial, p.value)
    p = replace(
        p,
        lower=_one(p.lower),
        upper=_one(p.upper),
        initial=_checked_value(name, "initial", p.type, p.initial),
        value=_checked_value(name, "value", p.type, p.value),
    )
    _check_texts(name, p)
    made = _made(name, p)
    made.active_when = p.active_when or ""
    made.fixed = p.value
    made.initial = p.initial if p.value is None else None
    return made


_VALUES = {"real": "a number", "integer": "a whole number", "boolean": "True or False"}


def _checked_value(name: str, key: str, kind: str, given: object) -> Any:
    """Without NumPy's types and arrays of one number."""
    value = plain(_one(given))
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        raise InputError(f"parameter '{name}': {key}: the number has too many digits")
    if isinstance(value, (bool, int, float, str, type(None))):
        return value
    raise InputError(f"parameter '{name}': {key}: it must be {_VALUES.get(kind, 'one of its choices')}, got {given!r}")


def _check_texts(name: str, p: Parameter) -> None:
    given: object = p.scale
    if not isinstance(given, str):
        raise InputError(f'parameter \'{name}\': scale must be "linear" or "log", got {given!r}')
    given = p.active_when
    if not isinstance(given, (str, type(None))):
        what = "a function" if callable(given) else repr(given)
        raise InputError(f"parameter '{name}': active_when must be a string such as 'x > 0', got {what}")


def check_alone(name: str, p: Parameter) -> None:
    """Raises InputError if the parameter is wrong whatever else is in its space."""
    _to_core(name, p)


def _made(name: str, p: Parameter) -> _core.Parameter:
    if isinstance(p.value, float) and not math.isfinite(p.value):
        raise InputError(f"parameter '{name}': value = {p.value}: it must be a finite number")
    if p.type == "boolean":
        return _core.boolean(name)
    if p.type in ("ordinal", "categorical"):
        make = _core.ordinal if p.type == "ordinal" else _core.categorical
        return make(name, _choices(name, [p.value] if p.choices is None and p.value is not None else p.choices))
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


def _is_list(given: object) -> bool:
    """Whether it can be iterated, and is no text; an array without dimensions has the method, but cannot."""
    return isinstance(given, Iterable) and not isinstance(given, (str, bytes, type)) and getattr(given, "ndim", 1) > 0


def _choices(name: str, choices: object) -> list[Value]:
    if isinstance(choices, Mapping) or not _is_list(choices):
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


def _pair(name: str, bounds: Any) -> tuple[float, float]:
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
    return _one(lower), _one(upper)


def _meant(bounds: Any) -> str:
    """The call that a single value, a table of a study file, a range, or bounds and a word, most likely mean; empty if
    none fits."""
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


def plain(value: Any) -> Any:
    """Values of programs as a study file would have them: NumPy's numbers and arrays, any mappings and tuples."""
    if isinstance(value, type):  # a class has the methods of its objects
        return value
    if isinstance(value, Mapping):
        return {name: plain(_one(inner)) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if hasattr(value, "__index__") and not isinstance(value, (int, bool)):
        return operator.index(value)
    return float(value) if hasattr(value, "__float__") and not isinstance(value, (int, float)) else value


def as_argument(value: Any) -> Any:
    """``plain``, and an array of one number is this number."""
    return plain(_one(value) if getattr(getattr(value, "dtype", None), "kind", "") in _NUMBERS else value)


def _one(value: Any) -> Any:
    """The number in an array that has only one; any other value as it is."""
    return value.item() if getattr(value, "shape", None) == (1,) else value


def at_bounds(space: _core.Space, x: list[float]) -> dict[str, str]:
    """The parameters that are at a bound, and which bound."""
    return {
        p.name: "lower" if value - p.lower < p.upper - value else "upper"
        for i, (p, value) in enumerate(zip(space.parameters, x, strict=True))
        if space.at_bound(i, value)
    }


def fixed_names(space: _core.Space | None) -> list[str]:
    return [] if space is None else [p.name for p in space.all if p.fixed is not None]
