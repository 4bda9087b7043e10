"""The search space: named parameters, and constraints on them."""

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from .. import _core
from .._core import InputError

Value: TypeAlias = bool | int | float | str
Constraints: TypeAlias = Mapping[str, str] | Sequence[str]


@dataclass(frozen=True)
class Parameter:
    """The allowed values of one parameter."""

    lower: float | None = None  # inclusive, in the parameter's own unit
    upper: float | None = None
    scale: str = "linear"  # "log": the search works in the parameter's logarithm
    type: str = "real"
    choices: Sequence[float | str] | None = None
    initial: Value | None = None  # where the search starts
    active_when: str | None = None  # the parameter is left out if this condition on other parameters does not hold


def real(
    lower: float,
    upper: float,
    scale: str = "linear",
    *,
    initial: float | None = None,
    active_when: str | None = None,
) -> Parameter:
    """A real number from ``lower`` to ``upper``. ``scale="log"``: the search uses its logarithm, and ``lower`` must be
    positive.
    """
    return Parameter(lower, upper, scale, initial=initial, active_when=active_when)


def integer(
    lower: float,
    upper: float,
    scale: str = "linear",
    *,
    initial: int | None = None,
    active_when: str | None = None,
) -> Parameter:
    """An integer from ``lower`` to ``upper``. ``scale`` is the same as for ``real``."""
    return Parameter(lower, upper, scale, "integer", initial=initial, active_when=active_when)


def ordinal(
    choices: Sequence[float | str], *, initial: float | str | None = None, active_when: str | None = None
) -> Parameter:
    """One of ``choices``, which are numbers or strings with an order: ``ordinal([16, 32, 64, 128])``."""
    return Parameter(type="ordinal", choices=choices, initial=initial, active_when=active_when)


def categorical(
    choices: Sequence[float | str], *, initial: float | str | None = None, active_when: str | None = None
) -> Parameter:
    """One of ``choices``, which are numbers or strings without an order: ``categorical(["ring", "tree"])``."""
    return Parameter(type="categorical", choices=choices, initial=initial, active_when=active_when)


def boolean(*, initial: bool | None = None, active_when: str | None = None) -> Parameter:
    """True or False."""
    return Parameter(type="boolean", initial=initial, active_when=active_when)


Bounds: TypeAlias = Parameter | tuple[float, float] | list[float]


class Space:
    """Named parameters in a fixed order, and constraints on them. Examples::

        culmen.Space({"tau": culmen.real(1e-6, 1, scale="log"), "n": culmen.integer(1, 9), "x": (0, 1)})
        culmen.Space([(0, 1), (0, 1)], constraints=["x0 + x1 <= 1"])

    A pair ``(lower, upper)`` is a real parameter. Parameters in a list have the names x0, x1 and so on. ``constraints``
    are expressions in a list, or in a dict by name.

    Raises InputError for wrong bounds and for a constraint or condition that cannot be read.
    """

    core: _core.Space
    positional: bool  # the user gave no names

    def __init__(
        self, parameters: "Mapping[str, Bounds] | Iterable[Bounds] | Space", constraints: Constraints | None = None
    ) -> None:
        if isinstance(parameters, Space):
            self.core, self.positional = parameters.core, parameters.positional
            if constraints:
                self.core = _core.Space(self.core.parameters, [*self.core.constraints, *_named(constraints)])
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
        return [p.name for p in self.core.parameters]

    def __len__(self) -> int:
        return len(self.core)

    def __repr__(self) -> str:
        return f"Space({', '.join(f'{p.name}: {describe(p)}' for p in self.core.parameters)})"


def describe(p: _core.Parameter) -> str:
    """``real [0, 1] log``, ``categorical a, b``"""
    kind = f"{p.kind} {', '.join(map(str, p.choices))}" if p.choices else p.kind
    if p.kind in ("real", "integer"):
        kind = f"{p.kind} [{p.lower:g}, {p.upper:g}] {p.scale}"
    return kind + (f" when {p.active_when}" if p.active_when else "")


def as_table(p: _core.Parameter) -> dict[str, Any]:
    """A table that makes the parameter again: ``Parameter(**as_table(p))``."""
    bounds = {"lower": p.lower, "upper": p.upper, "scale": p.scale} if p.kind in ("real", "integer") else {}
    further = {"choices": p.choices or None, "initial": p.initial, "active_when": p.active_when or None}
    return {"type": p.kind, **bounds, **{key: value for key, value in further.items() if value is not None}}


def _named(constraints: Constraints | None) -> list[tuple[str, str]]:
    if not constraints:
        return []
    if isinstance(constraints, str):
        return [(constraints, constraints)]
    if not isinstance(constraints, Iterable):
        constraints = [constraints]
    pairs = constraints.items() if isinstance(constraints, Mapping) else [(text, text) for text in constraints]
    for _name, text in pairs:
        if not isinstance(text, str):
            given = "a function" if callable(text) else repr(text)
            raise InputError(f"constraints must be strings such as 'x + y <= 1', got {given}")
    return [(str(name), text) for name, text in pairs]


def _to_core(name: str, bounds: Bounds) -> _core.Parameter:
    p = bounds if isinstance(bounds, Parameter) else Parameter(*_pair(name, bounds))
    made = _made(name, p)
    made.active_when = p.active_when or ""
    made.initial = p.initial
    return made


def _made(name: str, p: Parameter) -> _core.Parameter:
    if p.type == "boolean":
        return _core.boolean(name)
    if p.type in ("ordinal", "categorical"):
        make = _core.ordinal if p.type == "ordinal" else _core.categorical
        return make(name, _choices(name, p.choices))
    try:
        lower, upper = float(p.lower), float(p.upper)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(f"parameter '{name}': the bounds must be numbers, got {p.lower!r} and {p.upper!r}") from None
    make_number = _core.integer if p.type == "integer" else _core.real
    return make_number(name, lower, upper, p.scale)


def _is_list(given: object) -> bool:
    """Whether it can be iterated, and is no text; an array without dimensions has the method, but cannot."""
    return isinstance(given, Iterable) and not isinstance(given, (str, bytes, type)) and getattr(given, "ndim", 1) > 0


def _choices(name: str, choices: object) -> list[float | str]:
    if isinstance(choices, Mapping) or not _is_list(choices):
        raise InputError(f"parameter '{name}': choices must be a list of strings or numbers, got {choices!r}")
    found = list(choices)  # type: ignore[call-overload]
    for choice in found:
        if isinstance(choice, bool | type) or not (isinstance(choice, str) or hasattr(choice, "__float__")):
            raise InputError(f"parameter '{name}': each choice must be a string or a number, got {choice!r}")
    return [choice if isinstance(choice, str) else float(choice) for choice in found]


def _pair(name: str, bounds: Any) -> tuple[float, float]:
    if isinstance(bounds, (list, tuple)) and len(bounds) > 1 and all(isinstance(bound, str) for bound in bounds):
        raise InputError(f"parameter '{name}': got {bounds!r}; write culmen.categorical({list(bounds)!r})")
    if wanted := _meant(bounds):
        raise InputError(f"parameter '{name}': got {bounds!r}; write culmen.{wanted}")
    lower: float
    upper: float
    try:
        lower, upper = bounds
    except (TypeError, ValueError):
        raise InputError(
            f"parameter '{name}': it must be a pair (lower, upper) or one of culmen.real(…), integer, ordinal, "
            f"categorical and boolean, got {bounds!r}"
        ) from None
    return lower, upper


def _meant(bounds: Any) -> str:
    """The call that a range, or bounds and a word, most likely mean; empty if none fits."""
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
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if hasattr(value, "__index__") and not isinstance(value, (int, bool)):
        return operator.index(value)
    return float(value) if hasattr(value, "__float__") and not isinstance(value, (int, float)) else value


def at_bounds(space: _core.Space, x: list[float]) -> dict[str, str]:
    """The parameters that are at a bound, and which bound."""
    return {
        p.name: "lower" if value - p.lower < p.upper - value else "upper"
        for i, (p, value) in enumerate(zip(space.parameters, x, strict=True))
        if space.at_bound(i, value)
    }
