"""Linear fits on which outliers have little effect, with intervals.

All errors are taken to be relative: the standard deviation of a time is proportional to its ``spread``, for example to
the time itself.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Array = NDArray[np.float64]

CONFIDENCE = 0.95
METHOD = "bisquare M-estimate with Student's t; standard errors as in Huber, Robust Statistics (1981), section 7.6"
_HUBER, _BISQUARE = 1.345, 4.685  # of normal errors, both have an efficiency of 95 %
_TO_SIGMA = 1.4826  # from the median of absolute values of normal errors to their standard deviation
_LEAST_NOISE = 1e-6  # relative; times are not known better
_ROUNDS = 40
_RIDGE = 1e-12
_SETTLED = 1e-6  # change of a coefficient, in units of the noise, after which an iteration ends
_ROUGHLY = 1e-3  # change of a weight, the same for a search


class Estimate(NamedTuple):
    """A coefficient, and the ends of its interval of 95 %. Unknown ends are infinite."""

    value: float
    low: float
    high: float

    def contains(self, x: float) -> bool:
        return self.low <= x <= self.high

    def overlaps(self, other: "Estimate") -> bool:
        return self.low <= other.high and other.low <= self.high

    def scaled(self, factor: float) -> "Estimate":
        """``factor``: positive."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor)


@dataclass(frozen=True)
class Fit:
    """``values``: the p coefficients. ``covariance``: p × p. ``freedom``: points minus coefficients. ``weights``: from
    0 (an outlier) to 1, of each point. ``noise``: relative standard deviation of a point."""

    values: Array
    covariance: Array
    freedom: int
    weights: Array
    noise: float

    def estimate(self, combination: Array) -> Estimate:
        """Of the sum of coefficients with these p factors."""
        value = float(combination @ self.values)
        if self.freedom < 1:
            return Estimate(value, -np.inf, np.inf)
        error = float(np.sqrt(max(float(combination @ self.covariance @ combination), 0.0)))
        half = float(stdtrit(float(self.freedom), (1 + CONFIDENCE) / 2)) * error
        return Estimate(value, value - half, value + half)


def fit(design: Array, y: Array, spread: Array) -> Fit:
    """Fits ``design`` (n × p) times coefficients to ``y`` (n).

    Least absolute deviations give the noise, then Tukey's bisquare begins there: this is an MM-estimate (Yohai, Ann.
    Stat. 15 (1987) 642) with another beginning. Both are reweighted least squares. A fit with fewer than three points
    more than coefficients is plain least squares: outliers cannot be seen there.
    """
    n, p = design.shape
    x, z = design / spread[:, None], y / spread
    x, units = _equal_columns(x)
    plain = _solve(x, z, np.ones(n))
    if n - p < 3:
        noise = float(np.sqrt(np.sum((z - x @ plain) ** 2) / max(n - p, 1)))
        return Fit(plain / units, noise**2 * _inverse(x) / np.outer(units, units), n - p, np.ones(n), noise)
    c = _least_absolute(x, z, plain)
    noise = max(_scale(z - x @ c, p), _LEAST_NOISE)
    for _ in range(_ROUNDS):
        before, c = c, _solve(x, z, _bisquare((z - x @ c) / noise))
        if np.abs(c - before).max() < _SETTLED * noise:
            break
    residuals = (z - x @ c) / noise
    covariance = noise**2 * _huber_factor(residuals, p) * _inverse(x)
    return Fit(c / units, covariance / np.outer(units, units), n - p, _bisquare(residuals), noise)


def noise_of(x: Array, y: Array, spread: Array) -> float:
    """The relative noise without any model: how far each point lies from the line through its neighbours.

    T. Gasser et al., Biometrika 73 (1986) 625, with the median in place of the mean.
    """
    if len(x) < 3:
        return _LEAST_NOISE
    before = (x[2:] - x[1:-1]) / (x[2:] - x[:-2])
    after = 1 - before
    deviation = y[1:-1] - before * y[:-2] - after * y[2:]
    sigma = np.sqrt(spread[1:-1] ** 2 + (before * spread[:-2]) ** 2 + (after * spread[2:]) ** 2)
    return max(_TO_SIGMA * float(np.median(np.abs(deviation / sigma))), _LEAST_NOISE)


def costs(designs: Array, z: Array, used: Array, noise: float) -> Array:
    """The loss of S fits at once: Tukey's bisquare, at most 7.3 for an outlier, of the coefficients of Huber's fit.

    ``designs``: S × n × p, divided by the spreads. ``z``: n values, divided by the spreads. ``used``: S × n, 1 for the
    points of a fit. The result has S values; with normal errors, each is about the number of points.
    """
    weights = used.astype(float)
    residuals = np.zeros_like(weights)
    for _ in range(_ROUNDS // 2):
        weighted = designs * weights[:, :, None]
        square = np.einsum("snp,snq->spq", weighted, designs)
        trace = np.einsum("spp->sp", square)
        square += _RIDGE * trace[:, :, None] * np.eye(designs.shape[2]) + 1e-300 * np.eye(designs.shape[2])
        right = np.einsum("snp,n->sp", weighted, z)
        c = np.linalg.solve(square, right[:, :, None])[:, :, 0]
        residuals = np.abs(z - np.einsum("snp,sp->sn", designs, c)) / noise
        before, weights = weights, used * np.minimum(1.0, _HUBER / np.maximum(residuals, 1e-12))
        if np.abs(weights - before).max() < _ROUGHLY:
            break
    loss = _BISQUARE**2 / 3 * (1 - np.maximum(1 - (residuals / _BISQUARE) ** 2, 0.0) ** 3)
    return np.asarray((loss * used).sum(axis=1))


def smooth(y: Array) -> Array:
    """Running medians of three: an outlier does not stay."""
    out = y.copy()
    if len(y) > 2:
        out[1:-1] = np.median([y[:-2], y[1:-1], y[2:]], axis=0)
    return out


def _equal_columns(x: Array) -> tuple[Array, Array]:
    units = np.sqrt((x**2).sum(axis=0))
    units[units == 0] = 1.0
    return x / units, units


def _solve(x: Array, z: Array, weights: Array) -> Array:
    root = np.sqrt(weights)
    return np.asarray(np.linalg.lstsq(x * root[:, None], z * root, rcond=None)[0])


def _inverse(x: Array) -> Array:
    return np.asarray(np.linalg.pinv(x.T @ x))


def _least_absolute(x: Array, z: Array, c: Array) -> Array:
    for _ in range(_ROUNDS):
        size = np.abs(z - x @ c)
        before, c = c, _solve(x, z, 1 / np.maximum(size, 1e-3 * np.mean(size) + 1e-12))
        if np.abs(c - before).max() < 1e-3 * np.mean(size):
            break
    return c


def _scale(residuals: Array, p: int) -> float:
    """From the residuals of least absolute deviations, of which p are 0."""
    size = np.sort(np.abs(residuals))[p:]
    return _TO_SIGMA * float(np.median(size))


def _bisquare(residuals: Array) -> Array:
    return np.asarray(np.where(np.abs(residuals) < _BISQUARE, (1 - (residuals / _BISQUARE) ** 2) ** 2, 0.0))


def _huber_factor(residuals: Array, p: int) -> float:
    """Variance of the coefficients, divided by that of least squares with unit noise (Huber 1981, equation 7.6.5)."""
    n = len(residuals)
    score = residuals * _bisquare(residuals)
    u = (residuals / _BISQUARE) ** 2
    slope = np.where(u < 1, (1 - u) * (1 - 5 * u), 0.0)
    mean = float(np.mean(slope))
    if mean <= 0.1:  # hardly any point agrees with the line
        return float(np.mean(residuals**2)) * n / (n - p)
    correction = 1 + p / n * float(np.var(slope)) / mean**2
    return correction**2 * float(np.sum(score**2)) / (n - p) / mean**2
