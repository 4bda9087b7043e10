"""The goals: objectives, limits of extra values, and starting points."""

import math
from collections.abc import Iterable, Mapping

INFEASIBLE = "no evaluation satisfies all constraints and limits"


def oriented(value: float, direction: str) -> float:
    """Converts the user's value to the stored value, which is minimized. It also converts a stored value back."""
    return -value if direction == "maximize" else value


def direction_of(objectives: Iterable[tuple[str, str]]) -> str:
    """The direction of the first objective or, without objectives, of the value."""
    return next(iter(objectives), ("", "minimize"))[1]


def as_given(value: float, objectives: Iterable[tuple[str, str]]) -> float:
    """``oriented`` for the first objective."""
    return oriented(value, direction_of(objectives))


def bounds_of(limits: Mapping[str, Mapping[str, float | None]]) -> list[tuple[str, float, float]]:
    """(name, lower, upper) for each limit."""
    return [(name, _bound(t.get("lower"), -math.inf), _bound(t.get("upper"), math.inf)) for name, t in limits.items()]


def _bound(given: float | None, otherwise: float) -> float:
    return otherwise if given is None else given
