"""Statistics of measured times: which are warm-up, how exact their median is, and when they are enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

LEAST_VISITS = 6  # with fewer, even the interval from the smallest to the largest has less than 95 %
_CONFIDENCE = 0.95
_NEXT_LOOK = 1.1
_FIRST_CALLS, _VISIT_S = 3, 0.005  # a visit is short, so that all series meet the same noise


class Interval(NamedTuple):
    """The median of the visits' medians, and the ends of its interval of 95 %, in seconds. If there is no interval, its
    upper end is infinite."""

    median: float
    low: float
    high: float

    @property
    def exists(self) -> bool:
        """False if there were too few visits."""
        return math.isfinite(self.high)

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
    """The median of the visits' medians, and its interval from their order. The calls of one visit are not independent,
    so a visit counts once, however many calls it has.

    H. A. David and H. N. Nagaraja, Order Statistics, 3rd ed. (2003), section 7.1.
    """
    medians = np.sort([np.median(times) for times in visits])
    median = float(np.median(medians))
    n = len(medians)
    if n < LEAST_VISITS:
        return Interval(median, 0.0, math.inf)
    below = int(binom.ppf((1 - _CONFIDENCE) / 2, n, 0.5))  # P(at most below - 1 of n are smaller) < 2.5 %
    low, high = medians[max(below - 1, 0)], medians[min(n - below, n - 1)]
    return Interval(median, float(low), float(high))


@dataclass(frozen=True)
class Limits:
    """``interval``: half the length of the median's interval, divided by the median. ``budget_s``: time of all visits,
    after which a less exact median is enough. With ``repetitions``, both are ignored; the warm-up is not among them.
    ``most_calls``: largest number of calls of a visit."""

    interval: float = 0.05
    budget_s: float = 1.0
    repetitions: int = 0
    most_calls: int = field(default=100, kw_only=True)


@dataclass
class Series:
    """Times of calls of one kind, in visits. A negative time does not count: a rank was late."""

    visits: list[list[float]] = field(default_factory=list)
    window_s: float = 0.0  #: shortest time for each call
    spent_s: float = 0.0
    looked_at: int = 0  #: number of visits when the interval was last found too long

    @property
    def in_time(self) -> list[list[float]]:
        """The visits without the calls that do not count."""
        return [kept for times in self.visits if (kept := [t for t in times if t > 0])]

    @property
    def interval(self) -> Interval:
        """The median and its interval, without the warm-up. At least one call must count."""
        visits = self.in_time
        return interval(visits[warm_up(visits) :])

    def _missing(self, repetitions: int) -> int:
        """The number of repetitions that are missing without the warm-up. The warm-up is sought only if there are
        enough repetitions with it, because this takes long."""
        visits = self.in_time
        missing = repetitions - sum(map(len, visits))
        return missing if missing > 0 else repetitions - sum(map(len, visits[warm_up(visits) :]))

    def has_enough(self, limits: Limits) -> bool:
        """Whether no more visits are needed. With more visits, the interval takes longer to compute. So it is computed
        again only after 10 % more visits."""
        n = len(self.visits)
        if limits.repetitions:
            return self._missing(limits.repetitions) <= 0
        if self.spent_s >= limits.budget_s and n >= LEAST_VISITS:
            return True
        if self.looked_at < n < _NEXT_LOOK * self.looked_at:
            return False
        self.looked_at = n
        visits = self.in_time
        kept = visits[warm_up(visits) :] if visits else []
        return len(kept) >= LEAST_VISITS and interval(kept).relative <= limits.interval

    def is_exact(self, limits: Limits) -> bool:
        """Whether the interval is as short as requested; always true with repetitions."""
        if not self.in_time:
            return False
        return bool(limits.repetitions) or self.interval.relative <= limits.interval

    def next_calls(self, limits: Limits) -> int:
        """The number of calls of the next visit."""
        most = limits.most_calls
        if limits.repetitions:  # enough visits for an interval, also after a warm-up
            each = math.ceil(limits.repetitions / (2 * LEAST_VISITS))
            most = min(most, each, self._missing(limits.repetitions))
        last = next((kept for times in reversed(self.visits) if (kept := sorted(t for t in times if t > 0))), None)
        if last is None:
            return min(_FIRST_CALLS, most)
        # The lower quartile: if other programs interrupt a few calls, the next visit does not have fewer calls.
        about = _VISIT_S / max(last[len(last) // 4], self.window_s, 1e-9)
        return max(1, min(most, int(about)))

    def cold_visits(self) -> list[bool]:
        """Whether each visit is warm-up. Only visits with a call that counts are considered."""
        left = warm_up(self.in_time) if self.in_time else 0
        out = []
        for times in self.visits:
            out.append(left > 0)
            left -= any(t > 0 for t in times)
        return out
