"""Constraints as walls that steps do not cross: each is a half-space, where a step would cross it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import _core
from .frame import Array, Frame
from .parabola import Parabola

_TRIES = 30
_EXACT = 1e-9  # of the step's length
_MARGIN = 1e-4  # steps end this far inside, in units of v
_STIFF = 1e8  # curvature of a wall's parabola: a step passes it by the slope over this


@dataclass(frozen=True, eq=False)
class Wall:
    """normal · v ≤ reach; the normal has length 1."""

    name: str
    normal: Array
    reach: float


@dataclass(frozen=True)
class Kept:
    """An aim within the constraints, the parabola with its walls, and these walls. ``crossed``: names of constraints
    that the aim still violates."""

    aim: Array
    model: Parabola
    walls: list[Wall]
    crossed: list[str]


class Walls:
    """The walls from the constraints of a frame's space; coordinates v are (u - start) / scale."""

    def __init__(self, frame: Frame, scale: Array) -> None:
        self._frame, self._scale, self._start = frame, scale, frame.start
        parameters = frame.space.parameters
        self._alone = {c[0]: _core.Space(parameters, [c]) for c in frame.space.constraints}

    def keep(self, model: Parabola, choose: Callable[[Parabola], Array]) -> Kept:
        """The aim of ``choose``, for parabolas that rise at the walls in the way (Kelley, J. SIAM 8 (1960) 703). A
        constraint that an aim crosses becomes a wall, which the next aim respects. The parabola's own place must be
        allowed."""
        known: list[Wall] = []
        active: list[Wall] = []
        for _ in range(_TRIES):
            walled = _walled(model, active)
            aim = choose(walled)
            crossed = [name for name in self._alone if self._violation(name, aim) > 0]
            past = [wall for wall in known if wall not in active and wall.normal @ aim > wall.reach]
            kept = [wall for wall in active if wall.normal @ aim >= wall.reach - _MARGIN]
            if not crossed and not past and len(kept) == len(active):
                break
            if crossed and not past:
                past = [self._wall(name, model.v, aim) for name in crossed]
                known += past
            active = kept + past
        return Kept(aim, walled, active, crossed)

    def _violation(self, name: str, v: Array) -> float:
        return self._alone[name].violation(self._frame.beyond(self._start + v * self._scale))

    def _wall(self, name: str, start: Array, aim: Array) -> Wall:
        """The place where the line from the start to the aim crosses the constraint. Its slope is taken outside: inside
        it is zero."""
        inside, outside = 0.0, 1.0
        while outside - inside > _EXACT:
            middle = (inside + outside) / 2
            crossed = self._violation(name, start + middle * (aim - start)) > 0
            inside, outside = (inside, middle) if crossed else (middle, outside)
        v = start + outside * (aim - start)
        there, slope = self._violation(name, v), np.zeros(len(v))
        for j in range(len(v)):
            step = np.zeros(len(v))
            step[j] = _MARGIN
            up, down = (self._violation(name, v + side * step) for side in (1, -1))
            slope[j] = (max(up, down) - there) / (_MARGIN if up >= down else -_MARGIN)
        length = float(np.linalg.norm(slope)) or 1.0
        return Wall(name, slope / length, float(slope @ v - there) / length)


def _walled(m: Parabola, walls: list[Wall]) -> Parabola:
    g, b = m.g.copy(), m.b.copy()
    for wall in walls:
        past = float(wall.normal @ m.v) - (wall.reach - _MARGIN)
        g += _STIFF * past * wall.normal
        b += _STIFF * np.outer(wall.normal, wall.normal)
    return Parabola(m.v, m.f, g, b)
