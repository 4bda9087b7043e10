"""What may vary: named parameters with their bounds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from . import _core
from ._core import InputError


@dataclass(frozen=True)
class Parameter:
    """A parameter's kind and its bounds, which are inclusive and in the parameter's own unit."""

    lower: float
    upper: float
    scale: str = "linear"  # "log": the parameter's order of magnitude is what matters
    type: str = "real"


def real(lower: float, upper: float, scale: str = "linear") -> Parameter:
    """A real parameter; ``scale`` is "linear" or "log" (then 0 < lower)."""
    return Parameter(lower, upper, scale)


def integer(lower: float, upper: float) -> Parameter:
    """A whole number; both bounds are allowed values."""
    return Parameter(lower, upper, type="integer")


Bounds: TypeAlias = Parameter | tuple[float, float] | list[float]


class Space:
    """An ordered set of named parameters.

    ``Space({"tau": real(1e-6, 1, scale="log"), "n": integer(1, 9), "x": (0, 1)})``; a pair is a real, linear parameter.
    ``Space([(0, 1), (0, 1)])`` calls its parameters x0, x1, …

    Raises InputError naming the parameter: a bound upside down, not finite, not whole, or not positive on a log scale.
    """

    def __init__(self, parameters: "Mapping[str, Bounds] | Iterable[Bounds] | Space") -> None:
        if isinstance(parameters, Space):
            self.core, self.positional = parameters.core, parameters.positional
            return
        self.positional = not isinstance(parameters, Mapping)
        named = parameters if isinstance(parameters, Mapping) else {f"x{i}": b for i, b in enumerate(parameters)}
        self.core = _core.Space([_to_core(name, bounds) for name, bounds in named.items()])

    @property
    def names(self) -> list[str]:
        return [p.name for p in self.core.parameters]

    def __len__(self) -> int:
        return len(self.core)

    def __repr__(self) -> str:
        parts = (f"{p.name}: {p.kind} [{p.lower:g}, {p.upper:g}] {p.scale}" for p in self.core.parameters)
        return f"Space({', '.join(parts)})"


def _to_core(name: str, bounds: Bounds) -> _core.Parameter:
    p = bounds if isinstance(bounds, Parameter) else Parameter(*_pair(name, bounds))
    try:
        lower, upper = float(p.lower), float(p.upper)
    except (TypeError, ValueError):
        raise InputError(f"parameter '{name}': the bounds must be numbers, not {p.lower!r} and {p.upper!r}") from None
    if p.type == "integer":
        return _core.integer(name, lower, upper)
    return _core.real(name, lower, upper, p.scale)


def _pair(name: str, bounds: object) -> tuple[float, float]:
    try:
        lower, upper = bounds  # type: ignore[misc]
    except (TypeError, ValueError):
        raise InputError(
            f"parameter '{name}': {bounds!r} is given; a pair (lower, upper) or culmen.real(…) is wanted"
        ) from None
    return lower, upper
