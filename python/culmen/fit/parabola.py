"""A value as a parabola of its parameters, within bounds."""

from dataclasses import dataclass

import numpy as np

from .frame import Array

_MOST = 10  # largest number of steps to the best one, for each parameter


@dataclass
class Parabola:
    """About v: f + g d + d B d / 2. ``fresh``: B by the derivatives at v alone, if ``b`` is that of BFGS and they are
    known: Gauss and Newton's B of residuals, the Hessian of a value."""

    v: Array
    f: float
    g: Array
    b: Array
    fresh: Array | None = None

    def gain(self, step: Array) -> float:
        """The fall of the value along the step."""
        return -float(self.g @ step + step @ self.b @ step / 2)


@dataclass
class Box:
    """Bounds of v."""

    lower: Array
    upper: Array


def best_step(m: Parabola, box: Box, i: int | None = None, move: float = 0.0) -> Array:
    """The step to the least value within the box, where parameter ``i`` moves by ``move``. As in Stark & Parker,
    "Bounded-variable least-squares" (Comput. Stat. 10 (1995) 129): a parameter that reaches its bound stops there, and
    is released if the parabola then pulls it inside."""
    n = len(m.v)
    down, up = box.lower - m.v, box.upper - m.v
    step = np.zeros(n)
    if i is not None:
        step[i] = move
    others = [j for j in range(n) if j != i]
    free = others
    for _ in range(_MOST * n):  # rounding errors could cause an endless loop
        target = _among(m, step, free)
        if blocked := [j for j in free if not down[j] <= target[j] <= up[j]]:
            share, j = min((_room(step[j], target[j], down[j], up[j]), j) for j in blocked)
            wall = (up if target[j] > up[j] else down)[j]
            step = step + share * (target - step)
            step[j] = wall
            free = [k for k in free if k != j]
            continue
        step = target
        slope = m.g + m.b @ step
        pull = np.where(step >= up, slope, -slope)
        pulled = max((j for j in others if j not in free), key=pull.__getitem__, default=None)
        if pulled is None or pull[pulled] <= 0:
            break
        free = sorted([*free, pulled])
    step[others] = np.clip(step[others], down[others], up[others])
    return step


def _among(m: Parabola, step: Array, free: list[int]) -> Array:
    """The best step if only the free parameters may differ from ``step``."""
    out = step.copy()
    held = np.where(np.isin(np.arange(len(step)), free), 0.0, step)
    out[free] = -shortest(m.b[np.ix_(free, free)], m.g[free] + m.b[free] @ held)
    return out


def _room(here: float, there: float, low: float, high: float) -> float:
    """The share of the step that lies within the bounds."""
    return max(0.0, ((high if there > high else low) - here) / (there - here))


def shortest(b: Array, rest: Array) -> Array:
    """The shortest solution of b x = rest: parameters without effect do not move. Raises FloatingPointError for numbers
    that are not finite, for which LAPACK prints messages."""
    if not (np.all(np.isfinite(b)) and np.all(np.isfinite(rest))):
        raise FloatingPointError("a parabola's coefficients are not finite")
    return np.asarray(np.linalg.lstsq(b, rest, rcond=1e-14)[0])
