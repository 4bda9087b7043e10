"""Covariance, correlation, and directions that the data do not determine."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .frame import Array

_NULL = 1e-9  # singular values below this share of the greatest are rounding errors
_FALLING = 1e-3  # for a Hessian with a diagonal of 1: eigenvalues below minus this mean a saddle
_TOUCHED = 1e-3  # a parameter with at least this share in undetermined directions has no error


@dataclass
class Covariance:
    """Covariance of the parameters in the frame's coordinates; NaN in the rows of undetermined parameters."""

    matrix: Array
    rank: int
    undetermined: list[list[str]]  # for each direction without effect, the names of its parameters
    negative: list[list[str]]  # of a Hessian: directions in which the value falls
    fixed: list[str]  # parameters that cannot move along the constraints
    doubt: float = 0.0  # of a Hessian: the largest relative error that the errors may have

    @property
    def errors(self) -> Array:
        return np.sqrt(np.diag(self.matrix))

    @property
    def correlation(self) -> Array:
        return np.asarray(self.matrix / np.outer(self.errors, self.errors))


def of_jacobian(jacobian: Array, names: list[str], roughness: Array, normals: Sequence[Array] = ()) -> Covariance:
    """(JᵀJ)⁻¹ by the singular values of J, its columns first scaled to length 1 (Björck, Numerical Methods for Least
    Squares Problems, 1996, 2.8 and 9.7). This is for Δχ² = 1 if residuals are in units of their standard deviations.
    ``normals``: of constraints on which the parameters stay."""
    length = np.linalg.norm(jacobian, axis=0)
    length[length == 0] = 1
    along = _along(normals, length)
    scaled = jacobian / length @ along
    few = scaled.shape[0] < scaled.shape[1]  # then the directions without effect are missing in the short form
    _, sizes, directions = np.linalg.svd(scaled, full_matrices=few)
    padded = np.zeros(along.shape[1])
    padded[: len(sizes)] = sizes
    known = np.isfinite(roughness)  # without parameters that have no effect: they say nothing about the others
    rough = float(np.max(np.minimum(roughness[known], 0.1) ** 2, initial=0.0))
    least = np.full(len(padded), max(_NULL, rough * 0.1) * np.max(padded, initial=0.0))
    return _of_spectrum(padded, directions @ along.T, length, names, least, squared=True)


def of_hessian(hessian: Array, names: list[str], up: float, doubt: Array, normals: Sequence[Array] = ()) -> Covariance:
    """2 up H⁻¹ (James, Statistical Methods in Experimental Physics, 2nd ed., 2006, 9.3): the value rises by ``up``.
    ``doubt``: the approximate error of H; eigenvalues no greater than its effect on them may be 0.
    ``normals``: of constraints on which the parameters stay."""
    length = np.sqrt(abs(np.diag(hessian)) / (2 * up))
    length[length == 0] = 1
    unit = 2 * up * np.outer(length, length)
    along = _along(normals, length)
    sizes, vectors = np.linalg.eigh(along.T @ (hessian / unit) @ along)
    directions = (along @ vectors).T
    least = np.sqrt(2 * ((directions**2 @ (doubt / unit) ** 2) * directions**2).sum(axis=1))  # if they were independent
    least = np.maximum(least, _NULL * np.max(abs(sizes), initial=0.0))
    least[(sizes < 0) & (sizes > -_FALLING)] = _FALLING
    found = _of_spectrum(sizes, directions, length, names, least, squared=False)
    kept = sizes > least
    found.doubt = float(np.max(least[kept] / sizes[kept] / 2, initial=0.0))
    return found


def _along(normals: Sequence[Array], length: Array) -> Array:
    """An orthonormal basis, in columns, of the moves that stay on the constraints, for coordinates times ``length``."""
    if not len(normals):
        return np.eye(len(length))
    _, sizes, directions = np.linalg.svd(np.array(normals) / length, full_matrices=True)
    return np.asarray(directions[int((sizes > _NULL * sizes[0]).sum()) :].T)


def _of_spectrum(
    sizes: Array, directions: Array, length: Array, names: list[str], least: Array, squared: bool
) -> Covariance:
    null = abs(sizes) <= least
    falling = ~null & (sizes < 0)
    kept = directions[~null & ~falling]
    weights = sizes[~null & ~falling] ** (2 if squared else 1)
    matrix = (kept.T / weights) @ kept / np.outer(length, length)
    lost = (directions[null | falling] ** 2).sum(axis=0) > _TOUCHED
    fixed = (directions**2).sum(axis=0) < _TOUCHED**2
    matrix[lost | fixed, :] = matrix[:, lost | fixed] = np.nan
    return Covariance(
        matrix,
        len(weights),
        [_names_in(direction, names) for direction in directions[null]],
        [_names_in(direction, names) for direction in directions[falling]],
        [name for name, still in zip(names, fixed, strict=True) if still],
    )


def _names_in(direction: Array, names: list[str]) -> list[str]:
    shares = abs(direction)
    return [name for name, share in zip(names, shares, strict=True) if share > 0.1 * shares.max()]
