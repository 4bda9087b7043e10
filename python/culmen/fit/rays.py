"""Points beside a centre along each parameter, for derivatives by differences: the rules for the steps.

Steps go to both sides if possible. If a bound, a constraint or a failing evaluation stops one side, they go to the
other one (also twice as far, if two values are needed). If both sides are stopped, steps become shorter.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..problem.outcome import Outcome
from .frame import Array, Evaluate, Frame, evaluate_at

_TWO_PLACES, _ONE_PLACE = ((1, -1), (1, 2), (-1, -2)), ((1,), (-1,))
_NEARER, _NEAREST = 10.0, 4  # steps become shorter by the first factor, at most the second number of times
NO_PLACE = "no point next to it is allowed"
BEYOND_LIMIT = "it violates a limit"


@dataclass
class Ray:
    """Along parameter ``i`` from ``u``, in the frame's coordinates. ``places``: 2, or 1 for a slope that is exact to
    first order only. When it is ``done``, ``figures`` are the results at ``offsets``; or ``failure`` is the reason why
    there are none."""

    u: Array
    i: int
    step: float
    places: int = 2
    offsets: list[float] = field(default_factory=list)
    figures: list[Array] = field(default_factory=list)
    failure: str = ""
    done: bool = False
    _refused: set[int] = field(default_factory=set)  # sides on which it fails at this step
    _nearer: int = 0  # number of shorter steps so far

    def points(self, frame: Frame) -> list[Array]:
        """The next points to evaluate; none if no side is allowed: then it is done."""
        while not self.done:
            for sides in _TWO_PLACES if self.places == 2 else _ONE_PLACE:
                points = [self._moved(side) for side in sides]
                if not self._refused & {np.sign(s) for s in sides} and all(frame.allows(p) for p in points):
                    self.offsets = [float(p[self.i] - self.u[self.i]) for p in points]
                    return points
            self._come_nearer()
        return []

    def take(self, found: "Sequence[Array | str]") -> None:
        """Results, or why there are none."""
        self.figures = [f for f in found if not isinstance(f, str)]
        if len(self.figures) == len(self.offsets):
            self.failure, self.done = "", True
            return
        for offset, figures in zip(self.offsets, found, strict=True):
            if isinstance(figures, str):
                self._refused.add(int(np.sign(offset)))
                self.failure = figures

    @property
    def came_nearer(self) -> bool:
        """Its step had to become shorter."""
        return self._nearer > 0

    def resume(self, step: float) -> None:
        """Continues with another step."""
        self.step, self.done = step, False
        self._refused.clear()

    def slope(self, middle: Array) -> Array:
        """The slope if the results at ``u`` are ``middle``; with two places it is exact for parabolas."""
        rises = [(f - middle) / a for f, a in zip(self.figures, self.offsets, strict=True)]
        if len(rises) == 1:
            return np.asarray(rises[0])
        a, b = self.offsets
        return np.asarray((rises[0] * b - rises[1] * a) / (b - a))

    def curve(self, middle: Array) -> Array:
        """The second derivative, from two places."""
        a, b = self.offsets
        return np.asarray(2 * ((self.figures[0] - middle) / a - (self.figures[1] - middle) / b) / (a - b))

    def _moved(self, side: int) -> Array:
        point = self.u.copy()
        point[self.i] += side * self.step
        return point

    def _come_nearer(self) -> None:
        self._nearer += 1
        if self._nearer > _NEAREST:
            self.failure, self.done, self.figures = self.failure or NO_PLACE, True, []
        self.step /= _NEARER
        self._refused.clear()


@dataclass
class Star:
    """A point and its rays. ``middle``: the results there, None until they are evaluated. If that fails, ``failure``
    is the reason, and its rays are not evaluated."""

    u: Array
    rays: list[Ray]
    middle: Array | None = None
    failure: str = ""

    @property
    def whole(self) -> bool:
        return self.middle is not None and not any(ray.failure for ray in self.rays)


def look(evaluate: Evaluate, frame: Frame, stars: Sequence[Star], count: int) -> None:
    """Evaluates all stars in parallel until every ray is done. ``count``: number of residuals; 0: one value."""
    while True:
        asked: list[tuple[Star, Ray | None, list[Array]]] = []
        for star in stars:
            if star.failure:
                continue
            if star.middle is None:
                asked.append((star, None, [star.u]))
            asked += [(star, ray, points) for ray in star.rays if (points := ray.points(frame))]
        if not asked:
            return
        outcomes = iter(evaluate_at(evaluate, frame, [point for _, _, points in asked for point in points]))
        for star, ray, points in asked:
            found = [figures_of(next(outcomes), count) for _ in points]
            if ray is not None:
                ray.take(found)
            elif isinstance(found[0], str):
                star.failure = found[0]
            else:
                star.middle = found[0]


def figures_of(outcome: Outcome | None, count: int) -> Array | str:
    """Residuals, or the value; else why there are none."""
    if outcome is None:
        return NO_PLACE
    if not outcome.ok:
        return outcome.message.partition("\n")[0] or outcome.status
    if outcome.violation > 0:
        return BEYOND_LIMIT
    if not count:
        return np.array([outcome.cost])
    if len(outcome.residuals) != count:
        return f"there are {len(outcome.residuals)} residuals there, but {count} at the best candidate"
    return np.array(outcome.residuals)
