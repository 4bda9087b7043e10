"""Profile-likelihood intervals: their ends, where the least value over all other parameters has risen by Δ.

The intervals are those of Minuit's MINOS (James & Roos, Comput. Phys. Commun. 10 (1975) 343). The ends of all
parameters are searched together, so that each round is one batch of evaluations, and a second one if a slope needs
another side or a Hessian is measured. Parabolas of residuals come from Gauss and Newton's method as long as it makes
progress. Later, and if the study returns a value, BFGS updates their Hessian.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..problem.outcome import Outcome
from .differences import hessians, rise_of_hessian
from .frame import Array, Evaluate, Frame
from .loss import Loss
from .parabola import Box, Parabola
from .rays import Ray, Star, figures_of, look
from .search import End, Search
from .walls import Walls

_ROUNDS, _ROUNDS_RESIDUALS = 60, 150  # these try two kinds of parabolas, and settle
_LOWER = 0.01  # of Δ: a value this far below f₀ belongs to another minimum
_LEAST_SHARE = 0.02  # of the step for slopes of a value: no step for a Hessian is shorter
_NOT_FINITE = "not found among finite numbers"
_STEP_RESIDUALS, _STEP_VALUE = 0.02, 0.1  # of a parameter's error if all others stay


@dataclass
class Profiles:
    """``ends``: (lower, upper) by parameter, in its own unit. ``failure``: why an evaluation failed; empty if none did.
    ``lower_minimum``: a better vector that was found, and its value; then there are no ends."""

    ends: dict[str, tuple[End, End]]
    failure: str = ""
    lower_minimum: tuple[list[float], float] | None = None


class _Rounds:
    """The evaluations of all searches."""

    def __init__(
        self, evaluate: Evaluate, frame: Frame, scale: Array, size: Array, count: int, up: float, loss: Loss
    ) -> None:
        self._evaluate, self.frame, self.scale, self._count = evaluate, frame, scale, count
        self.start = frame.start
        self.box = Box((frame.lower - self.start) / scale, (frame.upper - self.start) / scale)
        self._up, self._loss = up, loss
        share = _STEP_RESIDUALS if count else _STEP_VALUE
        self._steps = np.minimum(share * size, (self.box.upper - self.box.lower) / 100) * scale
        self.lowest, self.lowest_at = np.inf, list(frame.x)
        self.most = _ROUNDS_RESIDUALS if count else _ROUNDS
        self.failure = ""  # message of the first evaluation that failed

    def models(self, searches: "Sequence[Search]") -> list[Parabola | None]:
        stars = [self._star(search) for search in searches]
        look(self._watched, self.frame, stars, self._count)
        pairs = list(zip(searches, stars, strict=True))
        measured = [search.measuring and star.whole for search, star in pairs]
        whole = [star for star, wanted in zip(stars, measured, strict=True) if wanted]
        found = iter(hessians(self._watched, self.frame, whole))
        return [self._model(*pair, next(found) if m else None) for pair, m in zip(pairs, measured, strict=True)]

    def propose(self, search: Search, walls: Walls) -> None:
        """Lets the search set its aim. It ends if it leaves the finite numbers."""
        try:
            search.propose(self.box, walls)
            lost = search.end is None and not self.frame.is_finite(self.u(search.aim))
        except (ArithmeticError, np.linalg.LinAlgError):
            lost = True
        if lost:
            search.end = End(None, _NOT_FINITE)

    def u(self, v: Array) -> Array:
        return np.clip(self.start + v * self.scale, self.frame.lower, self.frame.upper)

    def _star(self, search: Search) -> Star:
        """For residuals, first-order slopes suffice: Gauss and Newton's steps correct themselves."""
        u, steps = self.u(search.aim), self._steps
        if search.measuring:
            steps = steps * self._shares(search.model)
        middle = np.array([search.model.f]) if search.measuring else None
        return Star(u, [Ray(u, j, float(step), 1 if self._count else 2) for j, step in enumerate(steps)], middle)

    def _shares(self, m: Parabola) -> Array:
        """Of the steps, for a Hessian: the value then rises as at the minimum (see ``differences.curvature``)."""
        rise = np.maximum(np.diag(m.b), 0) * (self._steps / self.scale) ** 2 / 2
        return np.clip(np.sqrt(rise_of_hessian(m.f, self._up) / np.maximum(rise, 1e-300)), _LEAST_SHARE, 1)

    def _watched(self, vectors: list[list[float]]) -> list[Outcome]:
        outcomes = self._evaluate(vectors)
        for vector, outcome in zip(vectors, outcomes, strict=True):
            if isinstance(why := figures_of(outcome, self._count), str):
                self.failure = self.failure or why
            elif outcome.cost < self.lowest:
                self.lowest, self.lowest_at = outcome.cost, vector
        return outcomes

    def _model(self, search: Search, star: Star, hessian: Array | None) -> Parabola | None:
        if star.middle is None or not star.whole:
            return None
        slopes = np.array([ray.slope(star.middle) for ray in star.rays]).T * self.scale
        r = star.middle
        f, g = (self._loss.value(r), self._loss.gradient(slopes, r)) if self._count else (float(r[0]), slopes[0])
        if search.measuring:
            return replace(search.model, g=g, fresh=self._convex(search, hessian))
        gauss_newton = self._loss.convex_hessian(slopes, r) if self._count else 2 * slopes.T @ slopes
        if search.first is None:
            return Parabola(search.aim, f, g, gauss_newton)
        found = _updated(search.model, search.aim, f, g)
        return replace(found, fresh=gauss_newton) if self._count else found

    def _convex(self, search: Search, hessian: Array | None) -> Array:
        """The measured Hessian; the other parameters see a parabola with a minimum (Dauphin et al., NIPS 27 (2014)
        2933). BFGS's elements replace those that could not be measured."""
        b = search.model.b
        if hessian is None:
            return b
        out = np.where(np.isfinite(hessian), hessian * np.outer(self.scale, self.scale), b)
        others = np.ix_(*2 * [[j for j in range(len(b)) if j != search.i]])
        if not np.all(np.isfinite(out[others])):
            return b
        values, vectors = np.linalg.eigh(out[others])
        out[others] = vectors @ np.diag(abs(values)) @ vectors.T
        return out


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
    loss: Loss,
) -> Profiles:
    """The profiles of all parameters of the frame. ``scale``: approximate errors, in the frame's coordinates; a
    parabola would have its ends at ``reach`` times these. ``model``: value, gradient and Hessian at the frame's vector.
    ``count``: number of residuals; 0: one value. ``loss``: of the residuals."""
    f0, g, b = model[0], model[1] * scale, model[2] * np.outer(scale, scale)
    curved = np.diag(b) * reach**2 / (2 * delta)  # 1 if a parameter's error is the same when all others stay
    size = np.where(curved > 1, 1 / np.sqrt(np.maximum(curved, 1)), 1.0)
    rounds = _Rounds(evaluate, frame, scale, size, count, delta / reach**2, loss)
    start = Parabola(np.zeros(len(scale)), f0, g, b)
    first = None if count else b
    searches = [
        Search(i, side, start, start, f0 + delta, delta, reach, of_value=not count, first=first)
        for i in range(len(scale))
        for side in (-1, 1)
    ]
    walls = Walls(frame, scale)
    for _ in range(rounds.most):
        for search in searches:
            if search.end is None:
                rounds.propose(search, walls)
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


def _own_unit(search: Search, rounds: _Rounds) -> End:
    end = search.end or End(None, f"not found in {rounds.most} rounds")
    if end.value is None:
        return end
    v = np.zeros(len(rounds.start))
    v[search.i] = end.value
    value = rounds.frame.vector(rounds.u(v))[rounds.frame.moved[search.i]]
    return End(value) if math.isfinite(value) else End(None, _NOT_FINITE)
