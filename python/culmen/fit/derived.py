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
    out = np.full(len(frame.moved), np.nan)
    for k, i in enumerate(frame.moved):
        single = Frame(frame.space, frame.x, (i,))
        rises: dict[float, float] = {}
        for point in near:
            others = all(a == b or j == i for j, (a, b) in enumerate(zip(point.vector, frame.x, strict=True)))
            if others and point.vector[i] != frame.x[i] and math.isfinite(point.figures.get(name, math.nan)):
                offset = _offset(single, point.vector)
                rises.pop(offset, None)
                rises[offset] = (point.figures[name] - middle) / offset
        if rises:
            out[k] = _slope(list(rises.items())[-2:])
    return out


def _offset(single: Frame, vector: list[float]) -> float:
    there = Frame(single.space, tuple(vector), single.moved)
    return float(there.start[0] - single.start[0])


def _slope(rises: Sequence[tuple[float, float]]) -> float:
    """From one or two offsets and the mean slopes up to them; with two it is exact for parabolas."""
    if len(rises) == 1:
        return rises[0][1]
    (a, rise_a), (b, rise_b) = rises
    return (rise_a * b - rise_b * a) / (b - a)


def propagated(slopes: Array, matrix: Array) -> float | None:
    """The error; None if it needs a parameter without an error. ``matrix``: the covariance, NaN for such parameters."""
    known = np.isfinite(np.diag(matrix))
    if not np.all(np.isfinite(slopes[known])):
        return None
    variance = float(slopes[known] @ matrix[np.ix_(known, known)] @ slopes[known])
    lost = abs(slopes[~known])
    if len(lost) and not np.max(lost) <= _NEGLIGIBLE * np.max(abs(slopes[known]), initial=0.0):
        return None
    return math.sqrt(max(variance, 0.0))
