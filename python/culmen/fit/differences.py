"""Derivatives of residuals and of values by differences, all points of a round evaluated at once.

Steps: the error of a central difference is least near (3 ε)^(1/3) times the scale on which the function changes (Press
et al., Numerical Recipes, 3rd ed., 5.7), of a second difference near ε^(1/4); where the evaluator is rounder than ε,
which its second differences show, steps grow until they do no more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .frame import Array, Evaluate, Frame, evaluate_at

if TYPE_CHECKING:
    from ..evaluations import Outcome

_EPSILON = float(np.finfo(float).eps)
_SMOOTH = 1e-3  # a second difference this small against the first: neither rounding nor curvature counts
_GROWTH, _LONGEST, _ROUNDS = 10.0, 0.05, 7
_CENTRAL, _UP, _DOWN = (1, -1), (1, 2), (-1, -2)


@dataclass
class Slopes:
    """``jacobian``: residuals × parameters, by the frame's coordinates; a column of NaN where ``failures`` has its
    sentence. ``roughness``: second difference over first; the derivative is as good as its square where that is
    curvature, as good as itself where it is noise."""

    jacobian: Array
    roughness: Array
    failures: dict[str, str] = field(default_factory=dict)


@dataclass
class _Column:
    """The search for one parameter's derivative."""

    u: Array
    i: int
    step: float
    longest: float
    sides: tuple[int, int] = _CENTRAL
    shrunk: int = 0
    slope: Array | None = None
    roughness: float = np.inf
    failure: str = ""
    done: bool = False

    def points(self) -> list[Array]:
        out = []
        for side in self.sides:
            point = self.u.copy()
            point[self.i] += side * self.step
            out.append(point)
        return out

    def take(self, r0: Array, outcomes: "Sequence[Outcome | None]") -> None:
        found = [_residuals(o, len(r0)) for o in outcomes]
        if any(r is None for r in found):
            self._avoid(found, outcomes)
            return
        first, second = (r for r in found if r is not None)
        a, b = (point[self.i] - self.u[self.i] for point in self.points())
        slope = ((first - r0) * b / a - (second - r0) * a / b) / (b - a)  # exact for parabolas
        curve = abs(2 * ((first - r0) / a - (second - r0) / b) / (a - b)) * self.step**2
        size = float(np.linalg.norm(slope)) * 2 * self.step
        roughness = float(np.linalg.norm(curve)) / size if size > 0 else np.inf
        better = self.slope is None or roughness < self.roughness
        if better:
            self.slope, self.roughness = slope, roughness
        self.step *= _GROWTH
        self.done = roughness <= _SMOOTH or not (better or size == 0) or self.step > self.longest or self.shrunk > 0

    def _avoid(self, found: list[Array | None], outcomes: "Sequence[Outcome | None]") -> None:
        """One side fails: the derivative of the other; both: nearer."""
        if self.slope is not None:  # with a shorter step it was found
            self.done = True
        elif self.sides == _CENTRAL and any(r is not None for r in found):
            self.sides = _UP if found[0] is not None else _DOWN
        elif self.shrunk < 3:
            self.sides, self.step, self.shrunk = _CENTRAL, self.step / 100, self.shrunk + 1
        else:
            messages = [o.message.partition("\n")[0] for o in outcomes if o is not None and o.message]
            self.failure = messages[0] if messages else "no allowed point lies beside it"
            self.done = True


def slopes(evaluate: Evaluate, frame: Frame, r0: Array) -> Slopes:
    """Derivatives of the residuals at the frame's own vector, where they are ``r0``. Two evaluations a parameter, and
    two more for each round in which one was too rough or failed."""
    u, span = frame.start, frame.upper - frame.lower
    steps = np.cbrt(3 * _EPSILON) * np.maximum(abs(u), 1e-3 * span)
    columns = [_Column(u, i, min(steps[i], _LONGEST * span[i]), _LONGEST * span[i]) for i in range(len(u))]
    for column in columns:
        column.sides = _inner_sides(column, frame)
    for _ in range(_ROUNDS):
        open_columns = [column for column in columns if not column.done]
        if not open_columns:
            break
        outcomes = iter(evaluate_at(evaluate, frame, [p for column in open_columns for p in column.points()]))
        for column in open_columns:
            column.take(r0, [next(outcomes), next(outcomes)])
    none = np.full(len(r0), np.nan)
    return Slopes(
        np.array([none if c.slope is None else c.slope for c in columns]).T.reshape(len(r0), len(columns)),
        np.array([c.roughness for c in columns]),
        {frame.names[c.i]: c.failure or "its evaluations fail" for c in columns if c.slope is None},
    )


def _inner_sides(column: _Column, frame: Frame) -> tuple[int, int]:
    for sides in (_CENTRAL, _UP, _DOWN):
        column.sides = sides
        if all(frame.allows(point) for point in column.points()):
            return sides
    return _CENTRAL


def _residuals(outcome: "Outcome | None", count: int) -> Array | None:
    if outcome is None or not outcome.ok or len(outcome.residuals) != count:
        return None
    return np.array(outcome.residuals)


@dataclass
class Curvature:
    """Gradient and Hessian of a value by the frame's coordinates. ``failures``: sentences by parameter; its rows are
    NaN."""

    gradient: Array
    hessian: Array
    failures: dict[str, str] = field(default_factory=dict)


def curvature(evaluate: Evaluate, frame: Frame, f0: float, up: float) -> Curvature:
    """Of the value at the frame's own vector, where it is ``f0``. Steps are such that the value rises by about
    1.5e-4 (|f0| + up), as Minuit's HESSE chooses them (James & Roos, Comput. Phys. Commun. 10 (1975) 343): n (n + 1)
    evaluations, and two more for each step that had to be changed."""
    u, span = frame.start, frame.upper - frame.lower
    n = len(u)
    room = np.minimum(u - frame.lower, frame.upper - u)
    aim = max(1.5e-4 * (abs(f0) + up), 1e-6 * up)
    steps = np.minimum(_EPSILON**0.25 * np.maximum(abs(u), 1e-3 * span), room)
    rise = np.full((n, 2), np.nan)
    failures: dict[str, str] = {}
    todo = list(range(n))
    for attempt in range(_ROUNDS):
        if not todo:
            break
        outcomes = iter(
            evaluate_at(evaluate, frame, [u + side * steps[i] * _unit(n, i) for i in todo for side in (1, -1)])
        )
        again = []
        for i in todo:
            pair = [next(outcomes), next(outcomes)]
            found = [np.nan if o is None else o.cost - f0 for o in pair]
            if not np.all(np.isfinite(found)):
                steps[i] /= 10
                again.append(i)
                messages = [o.message.partition("\n")[0] for o in pair if o is not None and o.message]
                failures[frame.names[i]] = messages[0] if messages else "no allowed point lies beside it"
                continue
            failures.pop(frame.names[i], None)
            rise[i] = found
            sag = abs(sum(found)) / 2
            wanted = steps[i] * float(np.clip(np.sqrt(aim / max(sag, aim / 1e6)), 1e-3, 1e3))
            wanted = min(wanted, room[i], _LONGEST * span[i])
            if attempt + 1 < _ROUNDS and not 0.2 < wanted / steps[i] < 5:
                steps[i] = wanted
                again.append(i)
        todo = again
    return Curvature(
        (rise[:, 0] - rise[:, 1]) / (2 * steps), _hessian(evaluate, frame, f0, rise, steps, failures), failures
    )


def _hessian(evaluate: Evaluate, frame: Frame, f0: float, rise: Array, steps: Array, failures: dict[str, str]) -> Array:
    u, n = frame.start, len(steps)
    found = [i for i in range(n) if frame.names[i] not in failures]
    pairs = [(i, j) for i in found for j in found if i < j]
    points = [u + side * (steps[i] * _unit(n, i) + steps[j] * _unit(n, j)) for i, j in pairs for side in (1, -1)]
    outcomes = iter(evaluate_at(evaluate, frame, points))
    hessian = np.full((n, n), np.nan)
    sums = rise.sum(axis=1)
    for i in found:
        hessian[i, i] = sums[i] / steps[i] ** 2
    for i, j in pairs:
        corners = np.array([np.nan if o is None else o.cost - f0 for o in (next(outcomes), next(outcomes))])
        mixed = (corners - rise[i] - rise[j]) / (steps[i] * steps[j])
        good = mixed[np.isfinite(mixed)]
        if len(good) == 0:
            failures[frame.names[j]] = f"it fails where {frame.names[i]} is moved too"
        hessian[i, j] = hessian[j, i] = good.mean() if len(good) else np.nan
    return hessian


def _unit(n: int, i: int) -> Array:
    out = np.zeros(n)
    out[i] = 1
    return out
