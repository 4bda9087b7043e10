"""Levenberg and Marquardt's steps (Marquardt, J. SIAM 11 (1963) 431). They lead to the least value over the other
parameters while one is fixed."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .frame import Array
from .parabola import Parabola

_NONE_LEFT = 0.25  # of the tolerance: a step that predicts a smaller gain is not tried
_FIRST, _MORE = 1e-3, 4.0  # damping after a step that led up: at least the first, else multiplied by the second
_GOOD, _POOR = 0.75, 0.25  # of the predicted gain: above the first the damping falls, below the second it rises
_LESS, _CAREFUL = 0.3, 3.0


@dataclass
class Settling:
    """``promised``: the predicted gain of the step that is being tried; 0 if there is none."""

    damping: float = 0.0
    promised: float = 0.0

    def propose(self, m: Parabola, best: Callable[[Parabola], Array], tolerance: float) -> Array | None:
        """The next point to evaluate, or None if no step promises a gain. ``best`` returns the best point of a
        parabola."""
        self.promised = 0.0
        assert m.fresh is not None
        damped = m.fresh + self.damping * np.diag(np.diag(m.fresh))
        aim = best(Parabola(m.v, m.f, m.g, damped))
        if (gain := slope_gain(m, aim)) < _NONE_LEFT * tolerance:
            return None
        self.promised = gain
        return aim

    def takes(self, gain: float) -> bool:
        """True if the step is accepted. ``gain``: by how much the value fell; -inf if the evaluation failed."""
        ratio = gain / self.promised
        if ratio <= 0:
            self.damping = max(_FIRST, _MORE * self.damping)
            return False
        self.damping *= _LESS if ratio > _GOOD else _CAREFUL if ratio < _POOR else 1.0
        return True


def slope_gain(m: Parabola, aim: Array) -> float:
    """By how much the value falls if ``aim`` is the minimum of a parabola with this slope."""
    return -float(m.g @ (aim - m.v)) / 2
