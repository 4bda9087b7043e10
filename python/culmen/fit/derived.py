"""Errors of derived values: linear propagation with the covariance of the parameters.

The error is √(gᵀ C g), where g contains the derivatives by the free parameters and C is their covariance (for example
James, Statistical Methods in Experimental Physics, 2nd ed., 2006, 2.4). The derivatives come from the evaluations for
the errors of the parameters.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..problem.outcome import Outcome
from .frame import Array, Frame

_NEGLIGIBLE = 1e-6  # of the largest effect: an undetermined parameter with less does not matter


@dataclass(frozen=True)
class Seen:
    """A vector that was evaluated, and its values by name."""

    vector: list[float]
    figures: Mapping[str, float]


def seen(vectors: Sequence[list[float]], outcomes: Sequence[Outcome]) -> list[Seen]:
    return [Seen(v, o.extras) for v, o in zip(vectors, outcomes, strict=True) if o.ok]


def gradient(name: str, middle: float, frame: Frame, near: Sequence[Seen]) -> Array:
    """The derivatives of a value by the frame's parameters, in its coordinates. NaN for those without evaluations.
    ``middle``: the value at the frame's own vector."""
    rises: dict[int, dict[float, float]] = {i: {} for i in frame.moved}  # by parameter and offset
    for point in near:
        moved = [i for i, (a, b) in enumerate(zip(point.vector, frame.x, strict=True)) if a != b]
        figure = point.figures.get(name, math.nan)
        if len(moved) == 1 and moved[0] in rises and math.isfinite(figure):
            offset = _offset(frame, moved[0], point.vector)
            rises[moved[0]].pop(offset, None)
            rises[moved[0]][offset] = (figure - middle) / offset
    return np.array([_slope(list(of_one.items())[-2:]) if of_one else math.nan for of_one in rises.values()])


def _offset(frame: Frame, i: int, vector: list[float]) -> float:
    here, there = (Frame(frame.space, tuple(x), (i,)).start[0] for x in (frame.x, vector))
    return float(there - here)


def _slope(rises: Sequence[tuple[float, float]]) -> float:
    """From one or two offsets and the mean slopes up to them; with two it is exact for parabolas."""
    if len(rises) == 1:
        return rises[0][1]
    (a, rise_a), (b, rise_b) = rises
    return (rise_a * b - rise_b * a) / (b - a)


def why_none(value: float, slopes: Array, matrix: Array) -> str:
    """Why a value has no error. The arguments are those of ``propagated``."""
    if not math.isfinite(value):
        return "it is not finite"
    if not np.all(np.isfinite(slopes[np.isfinite(np.diag(matrix))])):
        return "its derivatives are not finite"
    return "it depends on a parameter without an error"


def propagated(slopes: Array, matrix: Array) -> float | None:
    """The error; None if it is not finite, or needs a parameter without an error. ``matrix``: the covariance, NaN for
    such parameters."""
    known = np.isfinite(np.diag(matrix))
    if not np.all(np.isfinite(slopes[known])):
        return None
    variance = float(slopes[known] @ matrix[np.ix_(known, known)] @ slopes[known])
    lost = abs(slopes[~known])
    if len(lost) and not np.max(lost) <= _NEGLIGIBLE * np.max(abs(slopes[known]), initial=0.0):
        return None
    return math.sqrt(max(variance, 0.0)) if math.isfinite(variance) else None
