"""Profile-likelihood intervals: where the least value over all other parameters has risen by Δ.

All ends of all parameters are sought together, so that each round is one batch of evaluations. An end is where the
value is f₀ + Δ and its derivatives by the other parameters vanish (Venzon & Moolgavkar, Appl. Statist. 37 (1988) 87;
the intervals are those of Minuit's MINOS, James & Roos, Comput. Phys. Commun. 10 (1975) 343). Each round solves this
for a parabola: of residuals that of Gauss and Newton, of values one whose Hessian is kept up by BFGS.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .frame import Array, Evaluate, Frame
from .parabola import Box, Parabola, best_step, shortest
from .rays import Ray, Star, figures_of, look
from .walls import Kept, Walls

if TYPE_CHECKING:
    from ..evaluations import Outcome

_ROUNDS = 40
_TOLERANCE = 1e-3  # of Δ
_LOWER = 0.01  # of Δ: this much below f₀ is another minimum
_GROWTH = 2.0  # an end is sought at most so many times as far out as the last point
_MUCH = 0.5  # of the height above the target: by so much the others can lower it
_LOST = 8  # so many rounds without a way back into the valley are too many
_SHORTEST = 1e-4  # of the step that a parabola wants
NOT_MET = "the evaluations fail, or jump, before it"
_CLOSE, _STOPPED = 1e-3, 1e-3  # of a step, and of a parabola's error: constraints are met as exactly
AT_BOUND, AT_CONSTRAINT = "at bound", "at constraint"
_STEP_RESIDUALS, _STEP_VALUE = 0.02, 0.1  # of the errors where all others stay
_NEAR_UP, _FAR_UP = 4.0, 1e5  # times Δ above the target: from further up than the first a step has to lead down; from
# nearer it may lead as far up as the second, because the next one comes back into a bent valley


@dataclass(frozen=True)
class End:
    """One end of an interval. ``value`` is None where there is none, and ``note`` then says why."""

    value: float | None
    note: str = ""


@dataclass
class Profiles:
    """``ends``: (lower, upper) by parameter, in its own unit. ``failure``: why an evaluation failed on the way; empty:
    none did. ``lower_minimum``: a better vector that was met on the way, and its value; then there are no ends."""

    ends: dict[str, tuple[End, End]]
    failure: str = ""
    lower_minimum: tuple[list[float], float] | None = None


@dataclass
class _Search:
    """For one end of one parameter."""

    i: int
    side: int
    model: Parabola
    target: float
    delta: float
    reach: float  # where a parabola would have its end
    share: float = 1.0  # of the step that the parabola wants
    most: float = 1.0  # of the parameter's own move in it
    lost: int = 0  # rounds since it was near the valley
    inner: Parabola | None = None  # the farthest one below the target: the end lies beyond
    aim: Array = field(default_factory=lambda: np.empty(0))
    end: End | None = None

    def propose(self, box: Box, walls: Walls) -> None:
        """Sets ``aim``, or ``end`` where the search is over."""
        self._propose(box, walls)
        while self.end is None and self._is_lost():
            self.most, self.lost, self.model, self.share = self.most / 3, 0, self.inner or self.model, 1.0
            if self.most < _SHORTEST:
                self.end = End(None, NOT_MET)
            else:
                self._propose(box, walls)

    def _is_lost(self) -> bool:
        """It turns round, stays where it is, or does not find its way: shorter steps from the inside are wanted."""
        inner = self.inner.v[self.i] if self.inner else 0.0
        turned = self.model is not self.inner and self.side * (self.aim[self.i] - inner) <= 0
        return self.lost > _LOST or turned or np.array_equal(self.aim, self.model.v)

    def _propose(self, box: Box, walls: Walls) -> None:
        m, i = self.model, self.i
        kept = walls.keep(m, lambda p: p.v + best_step(p, box, i))
        still = kept.aim - m.v
        to_valley = m.gain(still)  # what the others can still gain
        move = self._move(m.f - to_valley, *_valley(kept.model, still, i, box), box)
        if m.f > self.target + _NEAR_UP * self.delta and to_valley > _MUCH * (m.f - self.target):
            move = 0.0  # the others first find their way back
        near = to_valley < _TOLERANCE * self.delta
        at_bound = m.v[i] == (box.upper if self.side > 0 else box.lower)[i]
        if near and at_bound and m.f <= self.target:
            self.end = End(None, AT_BOUND)
        elif near and abs(m.f - to_valley - self.target) < _TOLERANCE * self.delta:
            self.end = End(float(m.v[i] + move))
        else:
            self._aim(box, walls, move * self.most, near)

    def _aim(self, box: Box, walls: Walls, move: float, near: bool) -> None:
        """As far as the constraints allow, where the others give way as well as they can."""
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
        """By how far parameter i has to go for the parabola's valley to be at the target."""
        i, side, here = self.i, self.side, float(self.model.v[self.i])
        a = height - self.target
        farthest = _GROWTH * max(abs(here), self.reach)
        discriminant = slope**2 - 4 * half * a
        if half > 0:
            move = (-slope + side * np.sqrt(max(discriminant, 0.0))) / (2 * half)
        else:
            move = side * farthest if a < 0 else -a / slope if slope else 0.0
        there = side * np.clip(side * (here + move), 0.01, farthest)
        return float(np.clip(there, box.lower[i], box.upper[i]) - here)

    def take(self, model: Parabola | None) -> None:
        """The new parabola where its point is believed, else a shorter step from the last one."""
        near_up = self.target + _NEAR_UP * self.delta
        high = self.model.f > near_up
        if model is None or model.f > (self.model.f if high else self.target + _FAR_UP * self.delta):
            self.share /= 3
            if self.share < _SHORTEST:
                self.end = End(None, NOT_MET)
        else:
            self.model, self.share = model, min(1.0, self.share * 3)
        if self.model.f <= self.target and (
            self.inner is None or self.side * (self.model.v[self.i] - self.inner.v[self.i]) > 0
        ):
            self.inner = self.model
        if self.model.f <= near_up:
            self.lost, self.most = 0, min(1.0, self.most * 2)
        else:
            self.lost += 1


def _valley(m: Parabola, still: Array, i: int, box: Box) -> tuple[float, float]:
    """Slope and half the curvature of the parabola's valley along parameter i, to which the step ``still`` leads."""
    walls = (m.v + still <= box.lower) | (m.v + still >= box.upper)
    free = [j for j in range(len(m.v)) if j != i and not walls[j]]
    slope, half = float((m.g + m.b @ still)[i]), float(m.b[i, i]) / 2
    if free:
        half -= float(m.b[i, free] @ shortest(m.b[np.ix_(free, free)], m.b[free, i])) / 2
    return slope, half


class _Rounds:
    """The evaluations of all searches."""

    def __init__(self, evaluate: Evaluate, frame: Frame, scale: Array, size: Array, count: int) -> None:
        self._evaluate, self.frame, self.scale, self._count = evaluate, frame, scale, count
        self.start = frame.start
        self.box = Box((frame.lower - self.start) / scale, (frame.upper - self.start) / scale)
        share = _STEP_RESIDUALS if count else _STEP_VALUE
        self._steps = np.minimum(share * size, (self.box.upper - self.box.lower) / 100) * scale
        self.lowest, self.lowest_at = np.inf, list(frame.x)
        self.failure = ""  # what the first evaluation that failed said

    def models(self, searches: "Sequence[_Search]") -> list[Parabola | None]:
        stars = [self._star(self.u(search.aim)) for search in searches]
        look(self._watched, self.frame, stars, self._count)
        return [self._model(search, star) for search, star in zip(searches, stars, strict=True)]

    def u(self, v: Array) -> Array:
        return np.clip(self.start + v * self.scale, self.frame.lower, self.frame.upper)

    def _star(self, u: Array) -> Star:
        """Of residuals first-order slopes do: Gauss and Newton's steps correct themselves."""
        return Star(u, [Ray(u, j, float(step), 1 if self._count else 2) for j, step in enumerate(self._steps)])

    def _watched(self, vectors: list[list[float]]) -> "list[Outcome]":
        outcomes = self._evaluate(vectors)
        for vector, outcome in zip(vectors, outcomes, strict=True):
            if isinstance(why := figures_of(outcome, self._count), str):
                self.failure = self.failure or why
            elif outcome.cost < self.lowest:
                self.lowest, self.lowest_at = outcome.cost, vector
        return outcomes

    def _model(self, search: _Search, star: Star) -> Parabola | None:
        if star.middle is None or any(ray.failure for ray in star.rays):
            return None
        slopes = np.array([ray.slope(star.middle) for ray in star.rays]).T * self.scale
        if not self._count:
            return _updated(search.model, search.aim, float(star.middle[0]), slopes[0])
        r = star.middle
        return Parabola(search.aim, float(r @ r), 2 * slopes.T @ r, 2 * slopes.T @ slopes)


def _updated(last: Parabola, v: Array, f: float, g: Array) -> Parabola:
    """BFGS."""
    s, y = v - last.v, g - last.g
    bs = last.b @ s
    if s @ y > 1e-3 * s @ bs:
        return Parabola(v, f, g, last.b - np.outer(bs, bs) / (s @ bs) + np.outer(y, y) / (s @ y))
    return Parabola(v, f, g, last.b)


def profiles(
    evaluate: Evaluate,
    frame: Frame,
    scale: Array,
    model: tuple[float, Array, Array],
    delta: float,
    reach: float,
    count: int,
) -> Profiles:
    """Of all parameters of the frame. ``scale``: about their errors, in the frame's coordinates; a parabola would have
    its ends at ``reach`` times these. ``model``: value, gradient and Hessian at the frame's vector. ``count``: of
    residuals; 0: of values."""
    f0, g, b = model[0], model[1] * scale, model[2] * np.outer(scale, scale)
    curved = np.diag(b) * reach**2 / (2 * delta)  # 1 where a parameter's error is the same when all others stay
    rounds = _Rounds(evaluate, frame, scale, np.where(curved > 1, 1 / np.sqrt(np.maximum(curved, 1)), 1.0), count)
    start = Parabola(np.zeros(len(scale)), f0, g, b)
    searches = [_Search(i, side, start, f0 + delta, delta, reach, inner=start) for i in range(len(scale)) for side in (-1, 1)]
    walls = Walls(frame, scale)
    for _ in range(_ROUNDS):
        for search in searches:
            if search.end is None:
                search.propose(rounds.box, walls)
        going = [search for search in searches if search.end is None]
        if not going or rounds.lowest < f0 - _LOWER * delta:
            break
        for search, found in zip(going, rounds.models(going), strict=True):
            search.take(found)
    if rounds.lowest < f0 - _LOWER * delta:
        return Profiles({}, rounds.failure, (rounds.lowest_at, rounds.lowest))
    ends = [_own_unit(search, rounds) for search in searches]
    pairs = zip(ends[::2], ends[1::2], strict=True)
    return Profiles(dict(zip(frame.names, pairs, strict=True)), rounds.failure)


def _own_unit(search: _Search, rounds: _Rounds) -> End:
    end = search.end or End(None, f"not found in {_ROUNDS} rounds")
    if end.value is None:
        return end
    v = np.zeros(len(rounds.start))
    v[search.i] = end.value
    return End(rounds.frame.vector(rounds.u(v))[rounds.frame.moved[search.i]])
