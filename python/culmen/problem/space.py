"""The search space: named parameters, and constraints on them."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from .. import _core
from .._core import InputError
from ..base.surrogates import refuse_surrogates
from ..base.text import did_you_mean
from .given import Value, check_fix, is_list, value_of_text, value_to_fix
from .parameter import Bounds, Parameter, describe, to_core, type_at

Constraints: TypeAlias = Mapping[str, str] | Sequence[str]


class Space:
    """Named parameters in a fixed order, and constraints on them. Examples::

        culmen.Space({"tau": culmen.real(1e-6, 1, scale="log"), "n": culmen.integer(1, 9), "x": (0, 1)})
        culmen.Space([(0, 1), (0, 1)], constraints=["x0 + x1 <= 1"])

    A pair ``(lower, upper)`` is a real parameter. Parameters in a list have the names x0, x1 and so on. ``constraints``
    is a list of expressions, or a dict of expressions by name.

    The method ``fixing({"n": 5})`` returns the same space, in which the parameter ``n`` is fixed.

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
        if not is_list(parameters):
            raise InputError(
                f"the space must be a dict such as {{'x': (0, 1)}}, or a list of pairs, got {parameters!r}"
            )
        self.positional = not isinstance(parameters, Mapping)
        named = parameters if isinstance(parameters, Mapping) else {f"x{i}": b for i, b in enumerate(parameters)}
        self.core = _core.Space([to_core(str(name), bounds) for name, bounds in named.items()], _named(constraints))
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


def _fixed_at(p: _core.Parameter, value: object) -> _core.Parameter:
    """The parameter, fixed at this value. A parameter that has only a value gets the new value and its type."""
    given = value_to_fix(p.name, p.kind, value)
    if p.fixed is not None and (p.choices == [p.fixed] or p.lower == p.upper == p.fixed):
        return to_core(p.name, Parameter(type=type_at(p.kind, given), active_when=p.active_when, value=given))
    p.initial, p.fixed = None, given
    return p


def no_such_parameter(name: str, known: Iterable[str]) -> str:
    """The message about an unknown parameter that a user tries to fix."""
    names = list(known)
    near = did_you_mean(str(name), names) or f"; the parameters are {', '.join(names)}"
    return f"there is no parameter '{name}' that could be fixed{near}"


def values_of_texts(space: _core.Space, texts: Mapping[str, str]) -> dict[str, Value]:
    """``value_of_text`` for parameters by name. The texts for unknown names are unchanged."""
    known = {p.name: p for p in space.all}
    return {
        name: value_of_text(text, known[name].kind, known[name].choices) if name in known else text
        for name, text in texts.items()
    }


def _named(constraints: Constraints | None) -> list[tuple[str, str]]:
    if constraints is None or (isinstance(constraints, str) and not constraints):
        return []
    given: Any = constraints if is_list(constraints) else [constraints]
    pairs = given.items() if isinstance(given, Mapping) else [(text, text) for text in given]
    for _name, text in pairs:
        if not isinstance(text, str):
            given = "a function" if callable(text) else repr(text)
            raise InputError(f"constraints must be strings such as 'x + y <= 1', got {given}")
    return [(str(name), text) for name, text in pairs]


def at_bounds(space: _core.Space, x: list[float]) -> dict[str, str]:
    """The parameters that are at a bound, and which bound."""
    return {
        p.name: "lower" if value - p.lower < p.upper - value else "upper"
        for i, (p, value) in enumerate(zip(space.parameters, x, strict=True))
        if space.at_bound(i, value)
    }


def fixed_names(space: _core.Space | None) -> list[str]:
    return [] if space is None else [p.name for p in space.all if p.fixed is not None]
