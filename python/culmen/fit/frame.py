"""The parameters for derivatives, each in its own scale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..problem.outcome import Outcome

Array: TypeAlias = NDArray[np.float64]
_LARGEST = float(np.finfo(float).max)


class Evaluate(Protocol):
    """Evaluates a batch of vectors; see CandidateEvaluator."""

    def __call__(self, candidates: list[list[float]], /) -> list[Outcome]: ...


@dataclass(frozen=True)
class Frame:
    """Coordinates u of some parameters of a space about a vector x: the parameter, or its logarithm if its scale is
    logarithmic. All other parameters keep their values in x."""

    space: _core.Space
    x: tuple[float, ...]
    moved: tuple[int, ...]  # their indices

    @property
    def names(self) -> list[str]:
        return [self.space.parameters[i].name for i in self.moved]

    @property
    def start(self) -> Array:
        return np.array([self._to_u(i, self.x[i]) for i in self.moved])

    @property
    def lower(self) -> Array:
        return np.array([self._to_u(i, self.space.parameters[i].lower) for i in self.moved])

    @property
    def upper(self) -> Array:
        return np.array([self._to_u(i, self.space.parameters[i].upper) for i in self.moved])

    @property
    def span(self) -> Array:
        """The width of the range; if a bound is missing, twice the size of the value, but at least 1 for 0."""
        here = np.minimum(np.abs(self.start), _LARGEST / 2)
        width: Array = np.where(
            np.isfinite(self.upper - self.lower), self.upper - self.lower, 2 * np.where(here, here, 1)
        )
        return width

    def slope(self, u: Array) -> Array:
        """dx/du"""
        return np.array([np.exp(v) if self._is_log(i) else 1.0 for i, v in zip(self.moved, u, strict=True)])

    def vector(self, u: Array) -> list[float]:
        """The whole vector, exactly within the bounds."""
        out, parameters = self.beyond(u), self.space.parameters
        for i in self.moved:
            out[i] = min(max(out[i], parameters[i].lower), parameters[i].upper)
        return out

    def beyond(self, u: Array) -> list[float]:
        """The whole vector, possibly out of bounds."""
        out = list(self.x)
        for i, v in zip(self.moved, u, strict=True):
            out[i] = float(np.exp(v) if self._is_log(i) else v)
        return out

    def allows(self, u: Array) -> bool:
        """Finite, and within bounds and constraints."""
        inside = bool(np.all(u >= self.lower) and np.all(u <= self.upper)) and self.is_finite(u)
        return inside and self.space.violation(self.vector(u)) == 0

    def is_finite(self, u: Array) -> bool:
        """Also in the parameters' own units."""
        vector = self.vector(u)
        return bool(np.all(np.isfinite(u))) and all(math.isfinite(vector[i]) for i in self.moved)

    def _is_log(self, i: int) -> bool:
        return self.space.parameters[i].scale == "log"

    def _to_u(self, i: int, value: float) -> float:
        return float(np.log(value)) if self._is_log(i) else value


def evaluate_at(evaluate: Evaluate, frame: Frame, points: Sequence[Array]) -> list[Outcome | None]:
    """None for a point that is not allowed; it is not evaluated."""
    allowed = [frame.allows(u) for u in points]
    outcomes = iter(evaluate([frame.vector(u) for u, ok in zip(points, allowed, strict=True) if ok]))
    return [next(outcomes) if ok else None for ok in allowed]
