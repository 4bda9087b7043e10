"""What is wanted: objectives, limits of further figures, and where to begin."""

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


def oriented(value: float, direction: str) -> float:
    """The user's value as it is stored, to be minimized, and a stored one as the user knows it: that is the same."""
    return -value if direction == "maximize" else value


def direction_of(objectives: Iterable[tuple[str, str]]) -> str:
    """Of the first, or of the value where none is named."""
    return next(iter(objectives), ("", "minimize"))[1]


def as_given(value: float, objectives: Iterable[tuple[str, str]]) -> float:
    """``oriented`` by the first objective."""
    return oriented(value, direction_of(objectives))


def bounds_of(limits: Mapping[str, Mapping[str, float | None]]) -> list[tuple[str, float, float]]:
    """Name, lower, upper."""
    return [(name, _bound(t.get("lower"), -math.inf), _bound(t.get("upper"), math.inf)) for name, t in limits.items()]


def _bound(given: float | None, otherwise: float) -> float:
    return otherwise if given is None else given
