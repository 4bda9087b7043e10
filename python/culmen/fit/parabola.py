"""A value as a parabola of its parameters, within bounds."""

from dataclasses import dataclass

import numpy as np

from .frame import Array


@dataclass
class Parabola:
    """About v: f + g d + d B d / 2."""

    v: Array
    f: float
    g: Array
    b: Array

    def gain(self, step: Array) -> float:
        """By how much the value falls."""
        return -float(self.g @ step + step @ self.b @ step / 2)


@dataclass
class Box:
    """Bounds of v."""

    lower: Array
    upper: Array


def best_step(m: Parabola, box: Box, i: int | None = None, move: float = 0.0) -> Array:
    """The step to the least value within the box, where parameter ``i`` moves by ``move``. What would leave the box
    stops at its wall; the others then step on without it."""
    n = len(m.v)
    step = np.zeros(n)
    if i is not None:
        step[i] = move
    free = [j for j in range(n) if j != i]
    while free:
        rest = m.g[free] + m.b[np.ix_(free, range(n))] @ np.where(np.isin(np.arange(n), free), 0.0, step)
        step[free] = -shortest(m.b[np.ix_(free, free)], rest)
        past = [max(m.v[j] + step[j] - box.upper[j], box.lower[j] - m.v[j] - step[j]) for j in free]
        worst = int(np.argmax(past))
        if past[worst] <= 0:
            break
        j = free.pop(worst)
        step[j] = (box.upper[j] if m.v[j] + step[j] > box.upper[j] else box.lower[j]) - m.v[j]
    return step


def shortest(b: Array, rest: Array) -> Array:
    """The shortest solution of b x = rest: what nothing depends on does not move."""
    return np.asarray(np.linalg.lstsq(b, rest, rcond=1e-14)[0])
