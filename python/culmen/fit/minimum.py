"""Where the best candidate lies relative to the minimum, by its derivatives: at a bound, at a constraint, or off."""

from dataclasses import dataclass, replace

import numpy as np

from .. import _core
from .frame import Array, Frame
from .parabola import Box, Parabola, best_step
from .walls import Walls

_BESIDE = 0.01  # in errors: a constraint this near is at the candidate


@dataclass(frozen=True)
class Point:
    """Value and derivatives at the best candidate, in the frame's coordinates; for residuals also their Jacobian."""

    frame: Frame
    value: float
    gradient: Array
    hessian: Array
    roughness: Array  # see Slopes; without a Jacobian it is the doubt of the Hessian, see Curvature
    jacobian: Array | None = None

    def part(self, kept: list[int]) -> "Point":
        """The same for some of the parameters."""
        square = np.ix_(kept, kept)
        part = replace(
            self,
            frame=Frame(self.frame.space, self.frame.x, tuple(self.frame.moved[k] for k in kept)),
            gradient=self.gradient[kept],
            hessian=self.hessian[square],
        )
        if self.jacobian is None:
            return replace(part, roughness=self.roughness[square])
        return replace(part, roughness=self.roughness[kept], jacobian=self.jacobian[:, kept])

    def sizes(self, up: float) -> Array:
        """Each parameter's error if all others are fixed."""
        curved = np.diag(self.hessian)
        size = np.sqrt(2 * up / np.where(curved > 0, curved, np.nan))
        return np.where(np.isfinite(size), size, 0.1 * self.frame.span)


def at_walls(point: Point, up: float) -> dict[str, str]:
    """The parameters that only a bound stops; the bound is "lower" or "upper"."""
    frame = point.frame
    place = frame.start, frame.lower, frame.upper, frame.span
    words = _core.stopping_bounds(*place, point.gradient, point.sizes(up), up)
    return {name: word for name, word in zip(frame.names, words, strict=True) if word}


@dataclass(frozen=True)
class Stand:
    """``distance``: how far the minimum within bounds and constraints lies below the value (Minuit's EDM). ``normals``:
    of the constraints at the candidate, in the frame's coordinates. ``gain``: how far the value would fall beyond
    them."""

    distance: float
    normals: dict[str, Array]
    gain: float = 0.0


def stand(point: Point, up: float) -> Stand:
    frame, size = point.frame, point.sizes(up)
    box = Box((frame.lower - frame.start) / size, (frame.upper - frame.start) / size)
    parabola = Parabola(np.zeros(len(size)), point.value, point.gradient * size, point.hessian * size * size[:, None])
    free = parabola.gain(best_step(parabola, box))
    kept = Walls(frame, size).keep(parabola, lambda p: best_step(p, box))
    distance = max(0.0, parabola.gain(kept.aim))
    gain = free - distance
    near = [wall for wall in kept.walls if wall.reach < _BESIDE]
    if kept.crossed or gain < _BESIDE**2 * up:
        near = []
    return Stand(distance, {wall.name: wall.normal / size for wall in near}, gain if near else 0.0)
