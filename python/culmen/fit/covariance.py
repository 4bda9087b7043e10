"""Covariance, correlation, and directions that the data do not determine. ``study/run/covariance.hpp`` has the rules,
which C++ programs use too."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import _core
from .frame import Array


@dataclass
class Covariance:
    """Covariance of the parameters in the frame's coordinates; NaN in the rows of undetermined parameters."""

    core: _core.Covariance
    matrix: Array
    undetermined: list[list[str]]  # for each direction without effect, the names of its parameters
    negative: list[list[str]]  # of a Hessian: directions in which the value falls
    fixed: list[str]  # parameters that cannot move along the constraints

    @property
    def doubt(self) -> float:
        """Of a Hessian: the largest relative error that the errors may have."""
        return self.core.doubt

    @property
    def errors(self) -> Array:
        return np.sqrt(np.diag(self.matrix))

    @property
    def correlation(self) -> Array:
        return np.asarray(self.matrix / self.errors / self.errors[:, None])


def of_residuals(
    jacobian: Array,
    residuals: Array,
    loss: _core.Loss,
    names: list[str],
    roughness: Array,
    normals: Sequence[Array] = (),
) -> Covariance:
    """``normals``: normal vectors of the constraints on which the parameters stay."""
    rows = _rows(normals, len(names))
    return _named(_core.covariance_of_residuals(jacobian, residuals, loss, roughness, rows), names)


def of_hessian(hessian: Array, names: list[str], up: float, doubt: Array, normals: Sequence[Array] = ()) -> Covariance:
    """``doubt``: the approximate error of H. ``normals``: normal vectors of the constraints on which the parameters
    stay."""
    return _named(_core.covariance_of_value(hessian, up, doubt, _rows(normals, len(names))), names)


def _rows(normals: Sequence[Array], width: int) -> Array:
    return np.array(normals, float).reshape(len(normals), width)


def _named(found: _core.Covariance, names: list[str]) -> Covariance:
    def of(indices: Sequence[int]) -> list[str]:
        return [names[k] for k in indices]

    undetermined, negative = ([of(direction) for direction in group] for group in (found.undetermined, found.negative))
    return Covariance(found, np.array(found.matrix), undetermined, negative, of(found.fixed))
