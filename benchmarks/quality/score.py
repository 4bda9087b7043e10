"""The measure: the area under the curve of the reached targets against the logarithm of the time."""

from __future__ import annotations

import math
from collections.abc import Mapping

from .problems import GROUPS, Id

TARGETS = [10 ** (2 - k / 5) for k in range(51)]  # above the optimum; those of COCO


class Curve:
    """When each target was first reached, in the caller's unit of time (evaluations, steps, durations)."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def add(self, time: float, gap: float) -> None:
        while len(self.times) < len(TARGETS) and gap <= TARGETS[len(self.times)]:
            self.times.append(time)

    @property
    def solved(self) -> bool:
        return len(self.times) == len(TARGETS)


def area(times: list[float], budget: float) -> float:
    """Mean of 1 - ln t / ln budget over the targets; 0 if a target was not reached. Times below 1 count as 1."""
    return sum(max(0.0, 1 - math.log(max(t, 1.0)) / math.log(budget)) for t in times) / len(TARGETS)


def table(areas: Mapping[Id, float]) -> dict[str, float]:
    """Means for each group of functions, and over all problems."""
    out = {name: [v for k, v in areas.items() if k.function in group] for name, group in GROUPS.items()}
    out["all"] = list(areas.values())
    return {name: sum(v) / len(v) for name, v in out.items() if v}
