"""Derivatives of residuals, or of a value, by differences; all points of a round are evaluated in parallel.

Steps: the error of a central difference is least near (3 ε)^(1/3) times the scale on which the function changes (Press
et al., Numerical Recipes, 3rd ed., 5.7), of a second difference near ε^(1/4). If the evaluator is less exact than ε, as
its second differences show, steps grow until they show it no more. ``rays`` chooses their sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from .frame import Array, Evaluate, Frame, evaluate_at
from .rays import Ray, Star, figures_of, look

_EPSILON = float(np.finfo(float).eps)
_SMOOTH = 1e-3  # if a second difference is this small against the first, neither rounding nor curvature matters
_GROWTH, _LONGEST, _ROUNDS = 10.0, 0.05, 7
_DOUBTFUL = 0.01  # for a Hessian with a diagonal of 1: an eigenvalue below this may come from the differences alone
_TINY = 1e-100  # a parameter with a smaller effect over its whole span has none
_HUGE = 1e150  # squares of larger derivatives overflow
_NOT_FINITE = "its derivatives are too large, or not finite"
_CLOSE = 0.01  # of the wanted step: if a bound is no nearer, differences of values use both sides


@dataclass
class Slopes:
    """``jacobian``: residuals × parameters, in the frame's coordinates; a column is NaN if ``failures`` has a sentence
    for it. ``roughness``: second difference over first. The relative error of a derivative is about its square if it
    comes from curvature, about itself if it comes from noise."""

    jacobian: Array
    roughness: Array
    failures: dict[str, str] = field(default_factory=dict)


def slopes(evaluate: Evaluate, frame: Frame, r0: Array, count: int) -> Slopes:
    """Derivatives of ``count`` residuals at the frame's own vector, where they are ``r0``; 0: of the value. Two
    evaluations a parameter, and two more for each round in which one was too rough or failed."""
    u, span = frame.start, frame.span
    longest = _LONGEST * span
    steps = np.minimum(np.cbrt(3 * _EPSILON) * np.maximum(abs(u), 1e-3 * span), longest)
    star = Star(u, [Ray(u, i, float(step)) for i, step in enumerate(steps)], r0)
    jacobian, roughness = np.full((len(r0), len(u)), np.nan), np.full(len(u), np.inf)
    failures: dict[str, str] = {}
    growing = star.rays
    for _ in range(_ROUNDS):
        look(evaluate, frame, [star], count)
        again = []
        for ray in growing:
            first = bool(np.isnan(jacobian[:, ray.i]).any())
            if ray.failure:
                if first:
                    failures[frame.names[ray.i]] = ray.failure
                continue
            slope, rough, flat = _judged(ray, r0)
            if not np.all(abs(slope) < _HUGE):
                if first:
                    failures[frame.names[ray.i]] = _NOT_FINITE
                continue
            better = first or rough < roughness[ray.i]
            if better:
                jacobian[:, ray.i], roughness[ray.i] = slope, rough
            if rough > _SMOOTH and (better or flat) and not ray.came_nearer and ray.step * _GROWTH <= longest[ray.i]:
                ray.resume(ray.step * _GROWTH)
                again.append(ray)
        growing = again
    return _without_tiny(Slopes(jacobian, roughness, failures), span)


def _without_tiny(found: Slopes, span: Array) -> Slopes:
    """Without effects that are so small that their squares could underflow."""
    tiny = abs(found.jacobian).max(axis=0, initial=0.0) * span < _TINY
    return replace(
        found, jacobian=np.where(tiny, 0.0, found.jacobian), roughness=np.where(tiny, np.inf, found.roughness)
    )


def _judged(ray: Ray, middle: Array) -> tuple[Array, float, bool]:
    """The slope, its roughness, and whether the residuals are constant."""
    slope = ray.slope(middle)
    size = float(np.linalg.norm(slope)) * 2 * ray.step
    curve = float(np.linalg.norm(ray.curve(middle))) * ray.step * ray.step
    return slope, curve / size if size > 0 else np.inf, size == 0


@dataclass
class Curvature:
    """Gradient and Hessian of a value in the frame's coordinates. ``doubt``: the approximate error of each of the
    Hessian's elements, if it was estimated. ``failures``: sentences by parameter; its rows are NaN."""

    gradient: Array
    hessian: Array
    doubt: Array
    failures: dict[str, str] = field(default_factory=dict)


def curvature(evaluate: Evaluate, frame: Frame, f0: float, up: float) -> Curvature:
    """Derivatives of the value at the frame's own vector, where it is ``f0``. Steps are chosen so that the value rises
    by about 1.5e-4 (|f0| + up), as in Minuit's HESSE (James & Roos, Comput. Phys. Commun. 10 (1975) 343). This takes
    n (n + 1) evaluations, two more for each changed step, and n (n - 1) more if some combination of the parameters is
    hardly determined."""
    u, span = frame.start, frame.span
    room = np.minimum(u - frame.lower, frame.upper - u)
    aim = rise_of_hessian(f0, up)
    middle = np.array([f0])
    rays = [
        Ray(u, i, _with_room(float(step), float(room[i])))
        for i, step in enumerate(_EPSILON**0.25 * np.maximum(abs(u), 1e-3 * span))
    ]
    star = Star(u, rays, middle)
    for attempt in range(_ROUNDS):
        look(evaluate, frame, [star], 0)
        again = False
        for ray in rays if attempt + 1 < _ROUNDS else []:
            if ray.failure or ray.came_nearer:
                continue
            sag = float(abs(ray.curve(middle)[0])) * ray.step * ray.step / 2
            wanted = ray.step * float(np.clip(np.sqrt(aim / max(sag, aim / 1e6)), 1e-3, 1e3))
            wanted = _with_room(min(wanted, _LONGEST * float(span[ray.i])), float(room[ray.i]))
            if not 0.2 < wanted / ray.step < 5:
                ray.resume(wanted)
                again = True
        if not again:
            break
    for ray in rays:
        if not ray.failure and not np.isfinite([ray.slope(middle)[0], ray.curve(middle)[0]]).all():
            ray.failure = _NOT_FINITE
    failures = {frame.names[ray.i]: ray.failure for ray in rays if ray.failure}
    gradient = np.array([np.nan if ray.failure else ray.slope(middle)[0] for ray in rays])
    hessian, doubt = _hessian(evaluate, frame, star, failures)
    tiny = abs(np.diag(hessian)) * span * span < _TINY**2 * up
    hessian[tiny, :] = hessian[:, tiny] = 0.0
    return Curvature(gradient, hessian, doubt, failures)


def rise_of_hessian(f0: float, up: float) -> float:
    """By how much the value rises at the steps for a Hessian."""
    return max(1.5e-4 * (abs(f0) + up), 1e-6 * up)


def hessians(evaluate: Evaluate, frame: Frame, stars: Sequence[Star]) -> list[Array]:
    """Those of the value at all stars, whose rays are evaluated. NaN for elements that could not be measured."""
    pairs = [(star, a, b) for star in stars for a in star.rays for b in star.rays if a.i < b.i]
    mixed = iter(_corners(evaluate, frame, pairs, ((0, 0), (1, 1))) if pairs else [])
    out = [np.diag([float(ray.curve(_middle(star))[0]) for ray in star.rays]) for star in stars]
    for hessian, star in zip(out, stars, strict=True):
        for i, j in combinations(range(len(star.rays)), 2):
            hessian[i, j] = hessian[j, i] = next(mixed)
    return out


def _with_room(step: float, room: float) -> float:
    return min(step, room) if room > _CLOSE * step else step


def _hessian(evaluate: Evaluate, frame: Frame, star: Star, failures: dict[str, str]) -> tuple[Array, Array]:
    """The diagonal from the rays; other elements from two corners of each pair of rays. The other two corners are also
    used if those fail, or if strong correlations make the exactness important."""
    n = len(star.rays)
    hessian = np.full((n, n), np.nan)
    found = [ray for ray in star.rays if not ray.failure]
    for ray in found:
        hessian[ray.i, ray.i] = ray.curve(_middle(star))[0]
    pairs = [(a, b) for a in found for b in found if a.i < b.i]
    mixed = _corners(evaluate, frame, [(star, *pair) for pair in pairs], ((0, 0), (1, 1)))
    for (a, b), estimate in zip(pairs, mixed, strict=True):
        hessian[a.i, b.i] = hessian[b.i, a.i] = estimate
    kept = [ray.i for ray in found]
    doubtful = _least_eigenvalue(hessian[np.ix_(kept, kept)]) < _DOUBTFUL
    again = [k for k in range(len(pairs)) if doubtful or np.isnan(mixed[k])]
    doubt = np.zeros((n, n))
    others = _corners(evaluate, frame, [(star, *pairs[k]) for k in again], ((0, 1), (1, 0)))
    for k, other in zip(again, others, strict=True):
        i, j = pairs[k][0].i, pairs[k][1].i
        estimates = [v for v in (mixed[k], other) if np.isfinite(v)]
        if not estimates:
            failures[frame.names[j]] = f"it fails if {frame.names[i]} is moved too"
            continue
        hessian[i, j] = hessian[j, i] = np.mean(estimates)
        doubt[i, j] = doubt[j, i] = np.ptp(estimates) / 2
    return hessian, doubt


def _least_eigenvalue(hessian: Array) -> float:
    """Scaled to a diagonal of 1; the identity if elements are unknown."""
    size = np.sqrt(abs(np.diag(hessian)))
    size[size == 0] = 1
    whole = len(size) > 1 and bool(np.all(np.isfinite(hessian)))
    return float(np.linalg.eigvalsh(hessian / np.outer(size, size))[0]) if whole else 1.0


def _corners(
    evaluate: Evaluate,
    frame: Frame,
    pairs: list[tuple[Star, Ray, Ray]],
    which: tuple[tuple[int, int], tuple[int, int]],
) -> list[float]:
    """Mixed second derivatives, the mean over the corners of a pair that are allowed and succeed; else NaN."""
    points = []
    for star, a, b in pairs:
        for k, m in which:
            point = star.u.copy()
            point[a.i] += a.offsets[k]
            point[b.i] += b.offsets[m]
            points.append(point)
    outcomes = iter(evaluate_at(evaluate, frame, points))
    out = []
    for star, a, b in pairs:
        good = []
        for k, m in which:
            found = figures_of(next(outcomes), 0)
            if not isinstance(found, str):
                rest = found + _middle(star) - a.figures[k] - b.figures[m]
                good.append(float(rest[0]) / (a.offsets[k] * b.offsets[m]))
        out.append(float(np.mean(good)) if good else np.nan)
    return out


def _middle(star: Star) -> Array:
    assert star.middle is not None
    return star.middle
