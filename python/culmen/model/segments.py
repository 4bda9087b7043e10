"""Segmented linear models: the breaks between the segments, and the coefficients of each segment."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .robust import Array, Estimate, Fit, costs, fit, noise_of, smooth

MOST = 5  # segments
LEAST_POINTS = 3  # of a segment
_MOST_POINTS = 64  # of a fit; more are thinned out while breaks are looked for
_FLOOR = 0.01  # a loss below this share of the noise says nothing
_SWEEPS = 3
_TRIED = 2  # beginnings for each number of breaks
_CLEARLY = 10  # a difference of BIC: "very strong" (R. E. Kass, A. E. Raftery, J. Am. Stat. Assoc. 90 (1995) 773)


@dataclass(frozen=True)
class Segment:
    """The line ``intercept`` + ``slope`` x from ``lower`` to ``upper``."""

    lower: float
    upper: float
    intercept: Estimate
    slope: Estimate

    def at(self, x: float) -> float:
        return self.intercept.value + self.slope.value * x


@dataclass(frozen=True)
class Segmented:
    """Segments from left to right. ``weights``: of each point, 0 for an outlier. ``noise``: relative."""

    segments: tuple[Segment, ...]
    continuous: bool
    weights: tuple[float, ...]
    noise: float

    @property
    def breaks(self) -> list[float]:
        return [segment.upper for segment in self.segments[:-1]]

    @property
    def outliers(self) -> int:
        return sum(weight == 0 for weight in self.weights)

    def at(self, x: float) -> float:
        """Between two segments that do not touch: interpolated. Outside of the range: the first or the last line."""
        for left, right in itertools.pairwise(self.segments):
            if x <= left.upper:
                return left.at(x)
            if x < right.lower:
                share = (x - left.upper) / (right.lower - left.upper)
                return (1 - share) * left.at(left.upper) + share * right.at(right.lower)
        return self.segments[-1].at(x)


def segmented(
    x: Sequence[float],
    y: Sequence[float],
    given: Sequence[float] = (),
    continuous: bool = False,
    keep: bool = False,
    most: int = MOST,
    guessed: bool = False,
) -> Segmented:
    """The segments with the least Bayesian information criterion (BIC).

    ``x``: different, at least two. ``y``: positive, in any unit; its errors are relative. ``given``: breaks that are
    known, for example the number of cores of a socket. They cost one coefficient less in the criterion than other
    breaks, because their place was not looked for. If there are not too many of them, all those with enough points on
    both sides are used. Noise may hide a small bend, so a good fit without a given break says nothing against it. Other
    breaks replace them only if their criterion is lower by more than 10 than that of every subset of the given breaks.
    ``guessed``: nobody says that the line bends at ``given``. If the criterion chooses none of these breaks, they do
    not count. If it chooses one of them, the others count as well: noise may hide their smaller bends.
    ``keep``: exactly these breaks, but those between which there are fewer than two points. ``most``: segments.

    Dynamic programming finds the segments that do not touch (R. Bellman, Commun. ACM 4 (1961) 284). Those that touch
    begin with the same breaks, and then each break in turn moves to its best place. The intervals hold for these
    breaks.
    """
    order = np.argsort(x).astype(np.int64)
    xs, ys = np.asarray(x, float)[order], np.asarray(y, float)[order]
    if keep:
        return _finish(xs, ys, _kept(xs, given, 2), continuous, order)
    thin = np.unique(np.linspace(0, len(xs) - 1, min(len(xs), _MOST_POINTS)).round().astype(int))
    breaks = _Search(xs[thin], ys[thin], [float(b) for b in given], most).best(continuous, guessed)
    return _finish(xs, ys, breaks, continuous, order)


def _kept(x: Array, given: Sequence[float], least: int) -> list[float]:
    """The breaks with at least ``least`` points on both sides, up to the next break."""
    out: list[float] = []
    for b in sorted(set(map(float, given))):
        left = np.sum((x <= b) & (x > (out[-1] if out else -math.inf)))
        if left >= least and np.sum(x > b) >= least:
            out.append(b)
    return out


def without_bend(x: Sequence[float], y: Sequence[float], found: Segmented) -> list[float]:
    """The breaks of this model of these points at which no bend was found: the intervals of both slopes overlap, and
    the criterion is less without the break."""
    order = np.argsort(x)
    breaks = found.breaks
    search = _Search(np.asarray(x, float)[order], np.asarray(y, float)[order], breaks, MOST)
    whole = search.score(breaks, found.continuous)
    return [
        b
        for b, (left, right) in zip(breaks, itertools.pairwise(found.segments), strict=True)
        if left.slope.overlaps(right.slope)
        and search.score([other for other in breaks if other != b], found.continuous) < whole
    ]


class _Search:
    """Looks for breaks. A break at b: points up to b are left of it."""

    def __init__(self, x: Array, y: Array, given: list[float], most: int) -> None:
        self.x, self.n, self.given = x, len(x), sorted(b for b in set(given) if x[0] < b < x[-1])
        self.spread = smooth(y)
        self.z = y / self.spread
        self.noise = noise_of(x, y, self.spread)
        self.most = max(1, min(most, self.n // LEAST_POINTS))
        self.unit = float(np.max(np.abs(x))) or 1.0

    def best(self, continuous: bool, guessed: bool) -> list[float]:
        found = self._divided()
        if continuous:
            found = [self._moved(breaks) for breaks in self._starts([*found, self.given[: self.most - 1]])]
        scores = [self.score(breaks, continuous) for breaks in found]
        known = _kept(self.x, self.given, LEAST_POINTS)
        if 0 < len(known) < self.most:
            chosen = self._best_of(known, continuous)
            if self.score(chosen, continuous) <= min(scores) + _CLEARLY and (chosen or not guessed):
                return known
        return found[int(np.argmin(scores))]

    def _best_of(self, known: list[float], continuous: bool) -> list[float]:
        """The choice of these breaks with the least criterion."""
        several = [list(some) for count in range(len(known) + 1) for some in itertools.combinations(known, count)]
        return min(several, key=lambda breaks: self.score(breaks, continuous))

    def score(self, breaks: Sequence[float], continuous: bool) -> float:
        cost = self._joined_cost(breaks) if continuous else self._apart_cost(breaks)
        return self._criterion(cost, breaks, continuous)

    def _criterion(self, cost: float, breaks: Sequence[float], continuous: bool) -> float:
        """BIC, corrected for few points as AIC is (C. M. Hurvich, C.-L. Tsai, Biometrika 76 (1989) 297)."""
        lines, free = len(breaks) + 1, sum(b not in self.given for b in breaks)
        p = (1 + lines if continuous else 2 * lines) + free
        if p > 2 and self.n - p - 1 <= 0:
            return math.inf
        penalty = p * math.log(self.n) * self.n / max(self.n - p - 1, 1)
        return self.n * math.log(max(cost / self.n, _FLOOR)) + penalty

    def _starts(self, several: list[list[float]]) -> list[list[float]]:
        """The most promising ones for segments that touch, of each number of breaks."""
        out = []
        for count in range(self.most):
            same = [sorted(breaks) for breaks in several if self._may_start(breaks, count)]
            if same:
                losses = self._joined_costs(same)
                scores = [self._criterion(loss, one, True) for loss, one in zip(losses, same, strict=True)]
                out += [same[k] for k in np.argsort(scores)[:_TRIED]]
        return out

    def _may_start(self, breaks: list[float], count: int) -> bool:
        """A single line always may."""
        return len(breaks) == count and (not breaks or self._wide_enough(sorted(breaks)))

    def _boundary(self, j: int) -> float:
        """Of the break between the points j - 1 and j: a given one, if it fits."""
        inside = [b for b in self.given if self.x[j - 1] <= b < self.x[j]]
        return inside[0] if inside else float(self.x[j - 1])

    def _divided(self) -> list[list[float]]:
        """For each number of segments, and of free breaks among them: the breaks with the least loss."""
        table = self._losses()
        given = [j > 0 and any(self.x[j - 1] <= b < self.x[j] for b in self.given) for j in range(self.n)]
        best: dict[tuple[int, int, int], tuple[float, list[float]]] = {}
        for end in range(1, self.n + 1):
            if (loss := table.get((0, end))) is not None:
                best[1, 0, end] = loss, []
            for count in range(2, self.most + 1):
                for begin in range(LEAST_POINTS, end - LEAST_POINTS + 1):
                    self._extend(best, (count, begin, end), table[begin, end], not given[begin])
        return [breaks for (_, _, end), (_, breaks) in best.items() if end == self.n]

    def _extend(self, best: dict, where: tuple[int, int, int], loss: float, free: bool) -> None:
        count, begin, end = where
        for before in range(count - 1):
            if (former := best.get((count - 1, before, begin))) is None:
                continue
            key, total = (count, before + free, end), former[0] + loss
            if key not in best or total < best[key][0]:
                best[key] = total, [*former[1], self._boundary(begin)]

    def _losses(self) -> dict[tuple[int, int], float]:
        """Of one line through the points begin … end - 1."""
        ends = [(i, j) for i in range(self.n) for j in range(i + 1, self.n + 1)]
        ends = [(i, j) for i, j in ends if j - i >= LEAST_POINTS or (i, j) == (0, self.n)]
        place = np.arange(self.n)
        used = np.array([(place >= i) & (place < j) for i, j in ends], dtype=float)
        lines = np.stack([np.ones(self.n), self.x / self.unit], axis=1) / self.spread[:, None]
        designs = np.broadcast_to(lines, (len(ends), *lines.shape))
        return dict(zip(ends, costs(designs, self.z, used, self.noise).tolist(), strict=True))

    def _apart_cost(self, breaks: Sequence[float]) -> float:
        design = _apart(self.x / self.unit, [b / self.unit for b in breaks]) / self.spread[:, None]
        return float(costs(design[None], self.z, np.ones((1, self.n)), self.noise)[0])

    def _joined_cost(self, breaks: Sequence[float]) -> float:
        return float(self._joined_costs([list(breaks)])[0])

    def _joined_costs(self, several: list[list[float]]) -> Array:
        designs = [_joined(self.x / self.unit, [b / self.unit for b in breaks]) for breaks in several]
        used = np.ones((len(several), self.n))
        return costs(np.array(designs) / self.spread[:, None], self.z, used, self.noise)

    def _moved(self, breaks: list[float]) -> list[float]:
        """Moves each break in turn to its best place, until none moves. Places are the points and the given breaks."""
        breaks = sorted(breaks)
        for _ in range(_SWEEPS if breaks else 0):
            former = list(breaks)
            for k in range(len(breaks)):
                tries = [sorted([*breaks[:k], b, *breaks[k + 1 :]]) for b in self._places(breaks[:k] + breaks[k + 1 :])]
                tries = [one for one in tries if self._wide_enough(one)] or [breaks]
                losses = self._joined_costs(tries)
                scores = [self._criterion(loss, one, True) for loss, one in zip(losses, tries, strict=True)]
                breaks = tries[int(np.argmin(scores))]
            if breaks == former:
                break
        return breaks

    def _places(self, others: list[float]) -> list[float]:
        return sorted({*self.given, *map(float, self.x[1:-1])} - set(others))

    def _wide_enough(self, breaks: list[float]) -> bool:
        """Each segment has points enough, those at both of its ends included."""
        ends = [-math.inf, *breaks, math.inf]
        return all(np.sum((self.x >= low) & (self.x <= high)) >= LEAST_POINTS for low, high in itertools.pairwise(ends))


def _apart(x: Array, breaks: Sequence[float]) -> Array:
    """n × 2 (breaks + 1): intercept and slope of each segment."""
    number = np.searchsorted(np.asarray(breaks), x, side="left")
    columns = [np.where(number == k, column, 0.0) for k in range(len(breaks) + 1) for column in (np.ones_like(x), x)]
    return np.stack(columns, axis=1)


def _joined(x: Array, breaks: Sequence[float]) -> Array:
    """n × (2 + breaks): intercept and slope of the first segment, and the change of slope at each break."""
    return np.stack([np.ones_like(x), x, *(np.maximum(x - b, 0.0) for b in breaks)], axis=1)


def _finish(x: Array, y: Array, breaks: list[float], continuous: bool, order: NDArray[np.int64]) -> Segmented:
    """The coefficients. The errors are relative to the fit itself in the second round, and not to noisy times."""
    design = (_joined if continuous else _apart)(x, breaks)
    least = 0.1 * smooth(y)
    found = fit(design, y, smooth(y))
    for _ in range(2):
        found = fit(design, y, np.maximum(design @ found.values, least))
    weights = np.empty(len(x))
    weights[order] = found.weights
    segments = [_segment(x, found, breaks, continuous, k) for k in range(len(breaks) + 1)]
    return Segmented(tuple(segments), continuous, tuple(weights.tolist()), found.noise)


def _segment(x: Array, found: Fit, breaks: list[float], continuous: bool, k: int) -> Segment:
    intercept, slope = np.zeros(len(found.values)), np.zeros(len(found.values))
    if continuous:
        intercept[0], slope[1 : 2 + k] = 1, 1
        intercept[2 : 2 + k] = [-b for b in breaks[:k]]
    else:
        intercept[2 * k], slope[2 * k + 1] = 1, 1
    lower = float(x[0]) if k == 0 else breaks[k - 1] if continuous else float(x[x > breaks[k - 1]][0])
    upper = float(x[-1]) if k == len(breaks) else breaks[k] if continuous else float(x[x <= breaks[k]][-1])
    return Segment(lower, upper, found.estimate(intercept), found.estimate(slope))
