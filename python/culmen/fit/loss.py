"""Derivatives of the value of residuals: of the sum of their squares, or of a robust loss."""

import numpy as np

from .. import _core
from .frame import Array


class Loss:
    """The loss of a study; ``evaluation/loss.hpp`` defines it. The second derivatives of the residuals are ignored, as
    in the method of Gauss and Newton."""

    def __init__(self, core: _core.Loss) -> None:
        self.core = core
        self.robust = core.loss != "linear"

    def value(self, residuals: Array) -> float:
        return self.core.value(residuals.tolist()) if self.robust else float(residuals @ residuals)

    def gradient(self, jacobian: Array, residuals: Array) -> Array:
        if self.robust:
            residuals = self._weights(residuals)[0] * residuals
        return np.asarray(2 * jacobian.T @ residuals)

    def hessian(self, jacobian: Array, residuals: Array, least: float = -np.inf) -> Array:
        """Not always convex: curvatures of outliers may be negative. ``least``: they are raised to it."""
        if not self.robust:
            return np.asarray(2 * jacobian.T @ jacobian)
        return np.asarray(2 * (jacobian.T * np.maximum(self._weights(residuals)[1], least)) @ jacobian)

    def convex_hessian(self, jacobian: Array, residuals: Array) -> Array:
        return self.hessian(jacobian, residuals, 0.0)

    def _weights(self, residuals: Array) -> tuple[Array, Array]:
        slopes, curvatures = self.core.weights(residuals.tolist())
        return np.array(slopes), np.array(curvatures)
