"""Several objectives. The search minimizes one number: the product of their powers. The weights are the exponents."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...base.text import shown
from ...bench.verdict import CONFIDENCE, Verdict, verdict_of

NAME, TITLE = "combined_value", "combined value"


@dataclass(frozen=True)
class Part:
    """One of several objectives. ``rounds``: its values with the present and with the recommended settings.
    ``verdict``: None if too few rounds succeeded."""

    name: str
    maximize: bool
    weight: float
    rounds: Sequence[tuple[float, float]] = ()
    verdict: Verdict | None = None


def parts_of(objectives: Mapping[str, str], weights: Mapping[str, float]) -> list[Part]:
    """``objectives``: "minimize" or "maximize" for each name. Empty if there is only one."""
    if len(objectives) < 2:
        return []
    return [Part(name, way == "maximize", weights.get(name, 1.0)) for name, way in objectives.items()]


def expression(parts: Sequence[Part]) -> str:
    """For [derived]. A value that is not above 0 has no logarithm, so its run fails."""
    return f"exp({' + '.join(f'{-p.weight if p.maximize else p.weight!r} * log({p.name})' for p in parts)})"


def formula(parts: Sequence[Part]) -> str:
    """For people, such as ``wall_time_s × energy_j^0.5 / gflops``."""
    up = [_power(p) for p in parts if not p.maximize]
    return " / ".join([" × ".join(up) or "1", *(_power(p) for p in parts if p.maximize)])


def judged(part: Part, rounds: Sequence[tuple[float, float]], least: int, objectives: int) -> Part:
    """``rounds``: NaN for a run that failed. ``least``: number of rounds for a verdict. ``objectives``: their number.
    All their intervals together hold with 95 % (C. E. Bonferroni, 1936)."""
    confidence = 1 - (1 - CONFIDENCE) / objectives
    whole = [pair for pair in rounds if not any(map(math.isnan, pair))]
    verdict = verdict_of(whole, part.maximize, confidence) if len(whole) >= least else None
    return replace(part, rounds=rounds, verdict=verdict)


def time_of(parts: Sequence[Part]) -> Part | None:
    """The objective that is a time of the program, as culmen measures it."""
    there = {part.name: part for part in parts if not part.maximize}
    return there.get("wall_time_s") or there.get("cpu_time_s")


def _power(part: Part) -> str:
    return part.name if part.weight == 1 else f"{part.name}^{shown(part.weight)}"
