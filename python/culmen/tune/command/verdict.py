"""Whether the new settings are better: runs with the old and the new ones, in turns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Verdict:
    """``gain``: the share by which the value is better with the new settings; negative: it is worse. ``low`` and
    ``high``: its interval of 95 %. Without positive values, there is no share, and these are differences."""

    before: float  # medians of the values
    after: float
    gain: float
    low: float
    high: float
    relative: bool
    rounds: int

    @property
    def is_better(self) -> bool:
        return self.low > 0

    @property
    def is_worse(self) -> bool:
        return self.high < 0


def verdict_of(pairs: Sequence[tuple[float, float]], maximize: bool) -> Verdict:
    """``pairs``: the values of each round, with the old and the new settings; at least two.

    The interval is Student's, of the differences of each pair; for positive values, of the logarithms of their ratios.
    """
    old, new = np.asarray(pairs, dtype=float).T
    relative = bool((old > 0).all() and (new > 0).all())
    better = (np.log(new / old) if relative else new - old) * (1 if maximize else -1)
    middle = better.mean()
    error = stats.sem(better)
    half = stats.t.ppf((1 + _CONFIDENCE) / 2, len(better) - 1) * error if error > 0 else 0.0
    low, gain, high = (
        _share(middle + sign * half, maximize) if relative else middle + sign * half for sign in (-1, 0, 1)
    )
    return Verdict(
        float(np.median(old)), float(np.median(new)), float(gain), float(low), float(high), relative, len(old)
    )


def _share(log_ratio: float, maximize: bool) -> float:
    """Of the old value: how much more there is, or how much is saved."""
    return float(np.expm1(log_ratio) if maximize else -np.expm1(-log_ratio))


@dataclass(frozen=True)
class Worth:
    """``spent_h``: hours of tuning. ``back_h``: hours in which the program must run with the new settings until the
    time that it saves is as long; None: it saves nothing."""

    spent_h: float
    back_h: float | None
    cost: float | None  # of the tuning, in the currency of the price

    @classmethod
    def of(
        cls, verdict: Verdict, maximize: bool, spent_s: float, cores: int, price: float | None, counts_time: bool = True
    ) -> "Worth":
        """``counts_time``: the value is a time or a rate; other values save none that is known."""
        spent_h = spent_s / 3600
        back_h = None
        if counts_time and verdict.is_better and verdict.relative:
            # After t hours, the old settings would have needed t · (1 + g) for a rate, or t / (1 - g) for a time.
            saved = verdict.gain if maximize else verdict.gain / (1 - verdict.gain)
            back_h = spent_h / saved
        return cls(spent_h, back_h, None if price is None else spent_h * cores * price)
