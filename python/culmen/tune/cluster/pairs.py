"""Whether an algorithm is faster than the MPI's own choice: both are called in turns, in launches of their own."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special, stats

from ...bench.collectives.points import Point, Protocol, by_place
from ...bench.verdict import standard_error, student_factor

VISITS = 5  # to each algorithm, in each launch
LAUNCHES = 10
LEAST_GAIN = 1.02  # less is not worth a change
FALSE_DISCOVERIES = 0.05  # largest expected share of wrong ones among the changed choices
CONFIDENCE = 0.95


def next_pairs(points: list[Point], _protocol: Protocol, rng: random.Random, *, visits: int = VISITS) -> list[Point]:
    """The next visits, for ``measure_points``: at each place, one algorithm after the other. The order of the places
    and of the algorithms is random."""
    pairs = by_place(p for p in points if not (p.unavailable or p.ended) and len(p.visits) < visits)
    rng.shuffle(pairs)
    for pair in pairs:
        rng.shuffle(pair)
    return [point for pair in pairs for point in pair]


@dataclass(frozen=True)
class Gain:
    """Time of the MPI's own choice / time of the algorithm, as the geometric mean over the launches, with its interval
    of 95 %, or a wider one (see ``with_interval``). ``p``: the probability of such launches if the algorithm were no
    faster. ``pairs``: number of pairs in all launches. ``launches``: number of launches with pairs.

    The pairs of a launch are not independent: they share random conditions, such as addresses in memory. Therefore only
    more launches make the interval shorter, not more pairs (T. Kalibera and R. Jones, Rigorous benchmarking in
    reasonable time, ISMM 2013, 63). The interval and ``p`` come from Student's t distribution (Biometrika 6 (1908) 1).
    Each launch gives one number: the median of the logarithms of its ratios.
    """

    times_faster: float
    low: float
    high: float
    p: float
    pairs: int
    launches: int = 0

    def with_interval(self, confidence: float) -> "Gain":
        """The gain with an interval of another confidence, between 0 and 1."""
        if self.launches < 2:
            return self
        middle, half = np.log(self.times_faster), np.log(self.high / self.low) / 2
        half *= student_factor(confidence, self.launches) / student_factor(CONFIDENCE, self.launches)
        return replace(self, low=float(np.exp(middle - half)), high=float(np.exp(middle + half)))


def gain_of(launches: Sequence[Sequence[tuple[float, float]]]) -> Gain:
    """``launches``: the pairs of each launch: a time of the MPI's own choice, and a time of the algorithm. If a launch
    has no pairs, ``p`` is 1. The other launches then prove nothing: an algorithm may be fast for the same reason that
    makes it fail."""
    logs = np.array(logs_of(launches))
    if len(logs) == 0:
        return Gain(1.0, 0.0, np.inf, 1.0, 0)
    middle, (low, high, p) = float(np.mean(logs)), _student(logs, CONFIDENCE)
    if len(logs) < len(launches):
        p = 1.0
    return Gain(float(np.exp(middle)), float(np.exp(low)), float(np.exp(high)), p, sum(map(len, launches)), len(logs))


def logs_of(launches: Sequence[Sequence[tuple[float, float]]]) -> list[float]:
    """One number for each launch with pairs: the median of the logarithms of its ratios."""
    return [float(np.median(np.log([own / other for own, other in pairs]))) for pairs in launches if len(pairs)]


def interval_of(logs: Sequence[float], confidence: float) -> tuple[float, float, float]:
    """The geometric mean of the ratios with these logarithms, and the ends of its interval. ``logs``: one of each
    launch, at least one."""
    low, high, _ = _student(np.array(logs), confidence)
    return float(np.exp(np.mean(logs))), float(np.exp(low)), float(np.exp(high))


def _student(logs: np.ndarray, confidence: float) -> tuple[float, float, float]:
    """The ends of the interval, and ``p``."""
    if len(logs) < 2:
        return -np.inf, np.inf, 1.0
    middle, error = np.mean(logs), standard_error(logs)
    if error == 0:
        return float(middle), float(middle), 0.0 if middle > 0 else 1.0
    half = student_factor(confidence, len(logs)) * error
    return float(middle - half), float(middle + half), float(special.stdtr(len(logs) - 1, -middle / error))


def are_faster(gains: Sequence[Gain]) -> list[bool]:
    """For each gain of a table, whether it is real. The expected share of wrong answers "yes" is at most
    FALSE_DISCOVERIES: Y. Benjamini and Y. Hochberg, J. R. Stat. Soc. B 57 (1995) 289. The test has two sides. So no
    interval of ``confidence_of`` contains 1 if the algorithm is faster."""
    if not gains:
        return []
    adjusted = stats.false_discovery_control([min(1.0, 2 * gain.p) for gain in gains])
    return [
        bool(p <= FALSE_DISCOVERIES and gain.times_faster >= LEAST_GAIN)
        for p, gain in zip(adjusted, gains, strict=True)
    ]


def confidence_of(chosen: int, compared: int) -> float:
    """The confidence for the intervals of the chosen gains. Gains are chosen because they look large, so intervals of
    95 % would miss more than 5 % of their true values. With this confidence, at most a share of FALSE_DISCOVERIES is
    expected to be missed: Y. Benjamini and D. Yekutieli, J. Am. Stat. Assoc. 100 (2005) 71."""
    return 1 - FALSE_DISCOVERIES * chosen / compared if compared else CONFIDENCE
