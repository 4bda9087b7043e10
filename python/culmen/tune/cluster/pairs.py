"""Whether an algorithm is faster than the MPI's own choice: both are called in turns, in launches of their own."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special, stats

from ...bench.collectives.points import Point, Protocol, by_place
from ...bench.verdict import standard_error, student_factor

VISITS = 5  # of both, in each launch
LAUNCHES = 10
LEAST_GAIN = 1.02  # less is not worth a change
FALSE_DISCOVERIES = 0.05  # the share of choices that may be no faster
_CONFIDENCE = 0.95


def next_pairs(points: list[Point], _protocol: Protocol, rng: random.Random, *, visits: int = VISITS) -> list[Point]:
    """For ``measure_points``: at each place first one, then the other. Both the order of the places and of the two are
    random."""
    pairs = by_place(p for p in points if not (p.unavailable or p.ended) and len(p.visits) < visits)
    rng.shuffle(pairs)
    for pair in pairs:
        rng.shuffle(pair)
    return [point for pair in pairs for point in pair]


@dataclass(frozen=True)
class Gain:
    """Time of the MPI's own choice / time of the algorithm, as the geometric mean over the launches, with its interval
    of 95 %, or a wider one (see ``with_interval``). ``p``: the probability of such launches if the algorithm were no
    faster. ``pairs``: of all launches. ``launches``: those with pairs.

    The launch is the unit: its pairs share what a launch has by chance, such as places in memory. So more pairs do not
    make the interval shorter, but more launches do (T. Kalibera and R. Jones, Rigorous benchmarking in reasonable time,
    ISMM 2013, 63). The interval and ``p`` are Student's (Biometrika 6 (1908) 1), of the launches' medians of the log
    ratios.
    """

    times_faster: float
    low: float
    high: float
    p: float
    pairs: int
    launches: int = 0

    def with_interval(self, confidence: float) -> "Gain":
        """With another confidence than 0.95, between 0 and 1."""
        if self.launches < 2:
            return self
        middle, half = np.log(self.times_faster), np.log(self.high / self.low) / 2
        half *= student_factor(confidence, self.launches) / student_factor(_CONFIDENCE, self.launches)
        return replace(self, low=float(np.exp(middle - half)), high=float(np.exp(middle + half)))


def gain_of(launches: Sequence[Sequence[tuple[float, float]]]) -> Gain:
    """``launches``: the pairs of each launch, of times of the MPI's own choice and of the algorithm. If a launch has no
    pairs, the others prove nothing: the algorithm may fail there because of what makes it fast."""
    logs = np.array([np.median(np.log([own / other for own, other in pairs])) for pairs in launches if len(pairs)])
    if len(logs) == 0:
        return Gain(1.0, 0.0, np.inf, 1.0, 0)
    middle, (low, high, p) = float(np.mean(logs)), _student(logs)
    if len(logs) < len(launches):
        p = 1.0
    return Gain(float(np.exp(middle)), float(np.exp(low)), float(np.exp(high)), p, sum(map(len, launches)), len(logs))


def _student(logs: np.ndarray) -> tuple[float, float, float]:
    """The ends of the interval, and the probability."""
    if len(logs) < 2:
        return -np.inf, np.inf, 1.0
    middle, error = np.mean(logs), standard_error(logs)
    if error == 0:
        return float(middle), float(middle), 0.0 if middle > 0 else 1.0
    half = student_factor(_CONFIDENCE, len(logs)) * error
    return float(middle - half), float(middle + half), float(special.stdtr(len(logs) - 1, -middle / error))


def are_faster(gains: Sequence[Gain]) -> list[bool]:
    """Of all gains of a table. At most a share of FALSE_DISCOVERIES is expected to be none: Y. Benjamini and
    Y. Hochberg, J. R. Stat. Soc. B 57 (1995) 289. The test has two sides, so that no interval of ``confidence_of`` has
    both a faster algorithm and 1."""
    if not gains:
        return []
    adjusted = stats.false_discovery_control([min(1.0, 2 * gain.p) for gain in gains])
    return [
        bool(p <= FALSE_DISCOVERIES and gain.times_faster >= LEAST_GAIN)
        for p, gain in zip(adjusted, gains, strict=True)
    ]


def confidence_of(chosen: int, compared: int) -> float:
    """Of the intervals of the gains that were chosen. Gains are chosen because they look large, so intervals of 95 %
    would miss more than 5 % of their true values. With this confidence, at most a share of FALSE_DISCOVERIES is
    expected to be missed: Y. Benjamini and D. Yekutieli, J. Am. Stat. Assoc. 100 (2005) 71."""
    return 1 - FALSE_DISCOVERIES * chosen / compared
