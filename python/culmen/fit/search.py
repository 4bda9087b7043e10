"""The search for one end of a profile: the next point to evaluate, and the decision that the end is found.

An end is where the value is f₀ + Δ and its derivatives by the other parameters vanish (Venzon & Moolgavkar, Appl.
Statist. 37 (1988) 87). Each round solves this for a parabola. In a bent valley that leads far up: then the others first
find their way back, or the search returns inside for shorter steps. Gauss and Newton's parabolas ignore how the slopes
of residuals change. They diverge if these changes and the residuals are large, for example where a valley turns round.
A search that is lost with them continues with BFGS (Fletcher & Xu, IMA J. Numer. Anal. 7 (1987) 371). Without
residuals, BFGS is the only method.

In a long, flat valley BFGS may overestimate the curvature and see the floor too early. An end therefore counts only
after the other parameters have settled: the fresh parabola of that point predicts no further gain, or steps by it bring
none. The fresh parabola of residuals is Gauss and Newton's. That of a value has a measured Hessian, which costs
additional evaluations.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from .errors import AT_BOUND, AT_CONSTRAINT
from .frame import Array
from .parabola import Box, Parabola, best_step, shortest
from .settling import Settling, slope_gain
from .walls import Kept, Walls

_TOLERANCE = 1e-3  # of Δ
_GROWTH = 2.0  # the search goes at most this factor farther out than the last point
_BACK = 0.25  # of the way from the last point below the target: no step leads back further
_MUCH = 0.5  # of the height above the target: the others can lower it by this share
_CLOSE_TO_END = 0.05  # of Δ from the target: nearer than this, Hessians are measured
_LOST = 5  # more rounds outside than this mean that the search is lost
_SHORTEST = 1e-4  # of the step that a parabola proposes
_CLOSE, _STOPPED = 1e-3, 1e-3  # of a step, and of a parabola's error: constraints are met to this precision
_NEAR_UP, _FAR_UP = 4.0, 1e5  # times Δ above the target. From higher than the first, a step must lead down. From
# lower, it may lead up to the second, because the next step comes back into a bent valley.
_NOT_MET = "before it, evaluations fail or their values jump"


@dataclass(frozen=True)
class End:
    """One end of an interval. ``value`` is None if there is none; ``note`` then gives the reason."""

    value: float | None
    note: str = ""


@dataclass
class Search:
    """The search for one end of one parameter."""

    i: int
    side: int
    model: Parabola
    inner: Parabola  # the farthest one below the target: the end lies beyond it
    target: float
    delta: float
    reach: float  # the end for a parabola
    share: float = 1.0  # of the step that the parabola proposes
    most: float = 1.0  # of the parameter's own move in that step
    lost: int = 0  # rounds without a failure since ``inner`` changed
    of_value: bool = False  # the study returns no residuals
    first: Array | None = None  # the Hessian with which BFGS starts; None: parabolas are Gauss and Newton's
    settling: Settling = field(default_factory=Settling)
    settled: Parabola | None = None  # the last one at which the others had settled
    aim: Array = field(default_factory=lambda: np.empty(0))
    measuring: bool = False  # the Hessian at the model's own point, which is the aim
    end: End | None = None

    def propose(self, box: Box, walls: Walls) -> None:
        """Sets ``aim``, or ``end`` if the search is over."""
        self._propose(box, walls)
        while self.end is None and self._is_lost():
            self._go_back_inside()
            if self.most < _SHORTEST:
                self.end = End(None, _NOT_MET)
            else:
                self._propose(box, walls)

    def _go_back_inside(self) -> None:
        """From there BFGS takes shorter steps. It starts with the fresh Hessian if that is known."""
        if self.inner.fresh is not None:
            self.inner = replace(self.inner, b=self.inner.fresh)
        self.first = self.inner.b if self.first is None else self.first
        self.most, self.lost, self.model, self.share = self.most / 3, 0, self.inner, 1.0

    def _is_lost(self) -> bool:
        """It makes no progress: shorter steps from inside are needed."""
        return not self.measuring and (self.lost > _LOST or np.array_equal(self.aim, self.model.v))

    def _propose(self, box: Box, walls: Walls) -> None:
        if self.settling.promised and self._settles(box, walls):
            return
        self.settling.promised = 0.0
        m, i = self.model, self.i
        kept = walls.keep(m, lambda p: p.v + best_step(p, box, i))
        still = kept.aim - m.v
        to_valley = m.gain(still)  # how much the others can still gain
        slope, half = _valley(kept.model, still, i, box)
        move = self._move(m.f - to_valley, slope, half, box)
        if m.f > self.target + _NEAR_UP * self.delta and to_valley > _MUCH * (m.f - self.target):
            move = 0.0  # the others first find their way back
        near = to_valley < _TOLERANCE * self.delta
        if near and self._settles(box, walls):
            return
        at_bound = m.v[i] == (box.upper if self.side > 0 else box.lower)[i]
        if near and at_bound and m.f <= self.target:
            self.end = End(None, AT_BOUND)
        elif near and max(abs(m.f - to_valley - self.target), abs(slope * move) / 2) < _TOLERANCE * self.delta:
            self.end = End(float(m.v[i] + move))
        else:
            on_the_floor = m is self.settled and m.f > self.target  # then the parabola is good up to the target
            self._aim(box, walls, move if on_the_floor else move * self.most, near)

    def _settles(self, box: Box, walls: Walls) -> bool:
        """True if more must be evaluated before the other parameters have settled: the Hessian, or a step to try."""
        m, tolerance = self.model, _TOLERANCE * self.delta
        if m is self.settled or abs(m.f - self.target) > self.delta:
            return False
        if m.fresh is None:
            if self.of_value and (self.settling.promised or abs(m.f - self.target) < _CLOSE_TO_END * self.delta):
                self.aim, self.measuring = m.v, True
            return self.measuring

        def best(model: Parabola) -> Array:
            return walls.keep(model, lambda p: p.v + best_step(p, box, self.i)).aim

        on_the_floor = slope_gain(m, best(replace(m, b=m.fresh))) < tolerance
        aim = None if on_the_floor else self.settling.propose(m, best, tolerance)
        if aim is not None:
            self.aim = np.clip(aim, box.lower, box.upper)
            return True
        if on_the_floor:
            m.b = m.fresh
        self.settled = m
        return False

    def _aim(self, box: Box, walls: Walls, move: float, near: bool) -> None:
        """Sets the aim as far as the constraints allow, while the others adapt as well as they can."""
        m, i = self.model, self.i

        def moved(share: float) -> Kept:
            return walls.keep(m, lambda p: p.v + best_step(p, box, i, share * move))

        whole = moved(1.0)
        low, high, kept = (0.0, 1.0, moved(0.0)) if whole.crossed else (1.0, 1.0, whole)
        while high - low > _CLOSE:
            middle = (low + high) / 2
            tried = moved(middle)
            low, high, kept = (low, middle, kept) if tried.crossed else (middle, high, tried)
        if whole.crossed and near and m.f <= self.target and abs(low * move) < _STOPPED:
            self.end = End(None, f"{AT_CONSTRAINT} {', '.join(whole.crossed)}")
            return
        self.aim = np.clip(m.v + self.share * (kept.aim - m.v), box.lower, box.upper)
        if self.share == low == 1 and m.v[i] + move in (box.lower[i], box.upper[i]):
            self.aim[i] = m.v[i] + move

    def _move(self, height: float, slope: float, half: float, box: Box) -> float:
        """How far parameter i must move to bring the parabola's valley to the target."""
        i, side, here = self.i, self.side, float(self.model.v[self.i])
        a = height - self.target
        farthest = _GROWTH * max(abs(here), self.reach)
        discriminant = slope**2 - 4 * half * a
        if half > 0:
            move = (-slope + side * np.sqrt(max(discriminant, 0.0))) / (2 * half)
        else:
            move = -a / slope if side * slope > 0 or (a >= 0 and slope) else side * farthest if a < 0 else 0.0
        inside = side * float(self.inner.v[i])
        least = max(0.01, inside + _BACK * max(0.0, side * here - inside))
        there = side * np.clip(side * (here + move), least, max(least, farthest))
        return float(np.clip(there, box.lower[i], box.upper[i]) - here)

    def take(self, model: Parabola | None) -> None:
        """Takes the new parabola if its point is plausible, else a shorter step from the last one."""
        if self.measuring:
            self.measuring = False
            self.model = replace(self.model, fresh=self.model.b) if model is None else model
            return
        high = self.model.f > self.target + _NEAR_UP * self.delta
        if settling := self.settling.promised > 0:
            if self.settling.takes(-np.inf if model is None else self.model.f - model.f) and model is not None:
                self.model = model
        elif model is None or model.f > (self.model.f if high else self.target + _FAR_UP * self.delta):
            self.share /= 3
            if self.share < _SHORTEST:
                self.end = End(None, _NOT_MET)
        else:
            self.model, self.share = model, min(1.0, self.share * 3)
        self.lost += model is not None and not settling
        if self.model.f <= self.target and self.side * (self.model.v[self.i] - self.inner.v[self.i]) > 0:
            self.inner, self.lost, self.most = self.model, 0, min(1.0, self.most * 2)


def _valley(m: Parabola, still: Array, i: int, box: Box) -> tuple[float, float]:
    """Slope and half the curvature of the parabola's valley along parameter i, to which the step ``still`` leads."""
    walls = (m.v + still <= box.lower) | (m.v + still >= box.upper)
    free = [j for j in range(len(m.v)) if j != i and not walls[j]]
    slope, half = float((m.g + m.b @ still)[i]), float(m.b[i, i]) / 2
    if free:
        half -= float(m.b[i, free] @ shortest(m.b[np.ix_(free, free)], m.b[free, i])) / 2
    return slope, half
