"""Statistics of the times of one algorithm: which are warm-up, and how exact their median is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

LEAST_VISITS = 6  # with fewer, even the smallest and the largest enclose a median with less than 95 %
_CONFIDENCE = 0.95


class Interval(NamedTuple):
    """The median of all times, and the ends of its interval of 95 %, in seconds. Without an interval: infinite."""

    median: float
    low: float
    high: float

    @property
    def relative(self) -> float:
        """Half the length of the interval, divided by the median."""
        return (self.high - self.low) / (2 * self.median) if self.median > 0 else math.inf

    def overlaps(self, other: Interval) -> bool:
        return self.low <= other.high and other.low <= self.high


def warm_up(visits: Sequence[Sequence[float]]) -> int:
    """The number of first visits that are warm-up: without them the standard error of the mean is least.

    MSER, K. P. White, Simulation 69 (1997) 323, on the logarithms of the visits' medians. At most half of the visits
    are warm-up.
    """
    y = np.log([np.median(times) for times in visits])
    n = len(y)
    if n < 2 * LEAST_VISITS:
        return 0
    errors = [np.var(y[d:]) / (n - d) for d in range(n // 2 + 1)]
    return int(np.argmin(errors))


def interval(visits: Sequence[Sequence[float]]) -> Interval:
    """The calls of one visit disturb each other, so the interval is that of the visits' medians, from their order.

    H. A. David and H. N. Nagaraja, Order Statistics, 3rd ed. (2003), section 7.1.
    """
    medians = np.sort([np.median(times) for times in visits])
    median = float(np.median(np.concatenate([np.asarray(times) for times in visits])))
    n = len(medians)
    if n < LEAST_VISITS:
        return Interval(median, 0.0, math.inf)
    below = int(binom.ppf((1 - _CONFIDENCE) / 2, n, 0.5))  # P(at most below - 1 of n are smaller) < 2.5 %
    low, high = medians[max(below - 1, 0)], medians[min(n - below, n - 1)]
    return Interval(median, min(float(low), median), max(float(high), median))
