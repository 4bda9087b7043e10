"""Whether the new settings are better: runs with the old and the new ones, in turns."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy import special

CONFIDENCE = 0.95
LEAST_PAIRS = 3  # rounds with both settings; fewer give no verdict
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Verdict:
    """``gain``: the share by which the value is better with the new settings; negative if it is worse. ``low`` and
    ``high``: its interval, with this confidence. If not all values are positive, there is no share, and these are
    differences."""

    before: float  # medians of the values
    after: float
    gain: float
    low: float
    high: float
    relative: bool
    rounds: int
    confidence: float = CONFIDENCE

    @property
    def is_better(self) -> bool:
        return self.low > 0

    @property
    def is_worse(self) -> bool:
        return self.high < 0


def in_turns(kinds: Sequence[Kind], rounds: int, seed: int) -> list[Kind]:
    """An order of runs: each round has each kind once, in random order."""
    rng = random.Random(seed)  # noqa: S311 - an order
    out: list[Kind] = []
    for _ in range(rounds):
        turn = list(kinds)
        rng.shuffle(turn)
        out += turn
    return out


def verdict_of(pairs: Sequence[tuple[float, float]], maximize: bool, confidence: float = CONFIDENCE) -> Verdict:
    """``pairs``: the values of each round, with the old and the new settings; at least two.

    The interval comes from Student's t distribution. The data are the differences of the pairs, or the logarithms of
    their ratios if all values are positive.
    """
    old, new = np.asarray(pairs, dtype=float).T
    relative = bool((old > 0).all() and (new > 0).all())
    better = (np.log(new / old) if relative else new - old) * (1 if maximize else -1)
    middle = better.mean()
    half = student_factor(confidence, len(better)) * standard_error(better)
    low, gain, high = (
        _share(middle + sign * half, maximize) if relative else middle + sign * half for sign in (-1, 0, 1)
    )
    medians = float(np.median(old)), float(np.median(new))
    return Verdict(*medians, float(gain), float(low), float(high), relative, len(old), confidence)


def student_factor(confidence: float, count: int) -> float:
    """Half the length of the interval of a mean, in standard errors (Biometrika 6 (1908) 1). ``count``: number of
    values, at least two."""
    return float(special.stdtrit(count - 1, (1 + confidence) / 2))


def standard_error(values: np.ndarray) -> float:
    """The standard error of the mean. ``values``: at least two."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def _share(log_ratio: float, maximize: bool) -> float:
    """The share of the old value that is gained or saved."""
    return float(np.expm1(log_ratio) if maximize else -np.expm1(-log_ratio))
