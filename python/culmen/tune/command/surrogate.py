"""A model of all runs of a search: a Gaussian process with noise. Its covariance is the sum of one part for each
parameter and one part for all parameters together (Duvenaud, Nickisch and Rasmussen, NIPS 2011). No single length,
share or noise is chosen. The results of all combinations are averaged, weighted by their marginal likelihoods (Snoek,
Larochelle and Adams, NIPS 2012)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

_LENGTHS = (0.2, 0.4, 0.8)  # length scales of a parameter's part, in the unit cube
_SHARES = (0.1, 0.3, 1.0)  # variance of the part for all parameters / variance of the part for one
_NOISES = 10.0 ** np.arange(-6, 5)  # variance of noise / variance of the part for one; the last: almost only noise
_CHOICES_ALIKE = 0.4  # correlation of different choices in the part for all parameters
_SAME_PLACE = 1e-9
_LEAST_WEIGHT = 1e-3


@dataclass(frozen=True)
class Prediction:
    """The prediction of one model. ``known``: means at the runs. ``mean``, ``deviation``: at the other points, without
    noise. ``noise``: standard deviation of single runs. ``weight``: how likely the model is; the sum over all models is
    about 1."""

    known: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    noise: float
    weight: float


@dataclass
class _Parts:
    """The matrices for one length and share, in the basis of the covariance's eigenvectors."""

    eigenvalues: np.ndarray
    vectors: np.ndarray
    turned: np.ndarray  # the values
    near: np.ndarray  # covariances with the other points
    own: np.ndarray  # variances of the other points


def predictions(units: np.ndarray, values: np.ndarray, at: np.ndarray, ordered: np.ndarray) -> Iterator[Prediction]:
    """``units``, ``at``: a row for each point of the unit cube. ``values``: the value at each of ``units``; not all
    equal. ``ordered``: whether a parameter's values have an order."""
    middle, spread = values.mean(), values.std()
    models = []
    for length in _LENGTHS:
        for share in _SHARES:
            parts = _parts(units, (values - middle) / spread, at, ordered, length, share)
            models += [(parts, noise, *_likelihood(parts, noise)) for noise in _NOISES]
    best = max(likelihood for *_, likelihood in models)
    weights = np.array([np.exp(likelihood - best) for *_, likelihood in models])
    weights /= weights.sum()
    for (parts, noise, variance, _), weight in zip(models, weights, strict=True):
        if weight >= _LEAST_WEIGHT:
            known, mean, deviation = _posterior(parts, noise, variance)
            of_runs = spread * float(np.sqrt(noise * variance))
            yield Prediction(middle + spread * known, middle + spread * mean, spread * deviation, of_runs, weight)


def _parts(
    units: np.ndarray, values: np.ndarray, at: np.ndarray, ordered: np.ndarray, length: float, share: float
) -> _Parts:
    eigenvalues, vectors = np.linalg.eigh(_covariance(units, units, ordered, length, share))
    near = vectors.T @ _covariance(units, at, ordered, length, share)
    own = np.full(len(at), 1 + units.shape[1] + share)
    return _Parts(np.maximum(eigenvalues, 0), vectors, vectors.T @ values, near, own)


def _covariance(a: np.ndarray, b: np.ndarray, ordered: np.ndarray, length: float, share: float) -> np.ndarray:
    total, together = np.ones((len(a), len(b))), np.full((len(a), len(b)), share)
    for j, number in enumerate(ordered):
        apart = a[:, j, None] - b[None, :, j]
        near = np.exp(-0.5 * (apart / length) ** 2) if number else (np.abs(apart) < _SAME_PLACE).astype(float)
        total += near
        together *= near if number else np.maximum(near, _CHOICES_ALIKE)
    return total + together


def _likelihood(parts: _Parts, noise: float) -> tuple[float, float]:
    """The variance with the largest marginal likelihood, and the logarithm of this likelihood up to a constant."""
    scales = parts.eigenvalues + noise
    variance = max(float((parts.turned**2 / scales).mean()), np.finfo(float).tiny)
    return variance, -0.5 * (len(scales) * np.log(variance) + float(np.log(scales).sum()))


def _posterior(parts: _Parts, noise: float, variance: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    scales = parts.eigenvalues + noise
    weights = parts.turned / scales
    left = parts.own - (parts.near**2 / scales[:, None]).sum(axis=0)
    known = parts.vectors @ (parts.eigenvalues * weights)
    return known, parts.near.T @ weights, np.sqrt(variance * np.maximum(left, 0))
