"""Whether an algorithm is faster than the MPI's own choice: both are called in turns, in launches of their own."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ...bench.collectives.points import Point, Protocol, by_place

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
    of 95 %. ``p``: the probability of such launches if the algorithm were no faster. ``pairs``: of all launches.

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


def gain_of(launches: Sequence[Sequence[tuple[float, float]]]) -> Gain:
    """``launches``: the pairs of each launch, of times of the MPI's own choice and of the algorithm. If a launch has no
    pairs, the others prove nothing: the algorithm may fail there because of what makes it fast."""
    logs = np.array([np.median(np.log([own / other for own, other in pairs])) for pairs in launches if len(pairs)])
    if len(logs) == 0:
        return Gain(1.0, 0.0, np.inf, 1.0, 0)
    middle, (low, high, p) = float(np.mean(logs)), _student(logs)
    if len(logs) < len(launches):
        p = 1.0
    return Gain(float(np.exp(middle)), float(np.exp(low)), float(np.exp(high)), p, sum(map(len, launches)))


def _student(logs: np.ndarray) -> tuple[float, float, float]:
    """The ends of the interval, and the probability."""
    if len(logs) < 2:
        return -np.inf, np.inf, 1.0
    middle, error = np.mean(logs), stats.sem(logs)
    if error == 0:
        return float(middle), float(middle), 0.0 if middle > 0 else 1.0
    half = stats.t.ppf((1 + _CONFIDENCE) / 2, len(logs) - 1) * error
    return float(middle - half), float(middle + half), float(stats.t.sf(middle / error, len(logs) - 1))


def are_faster(gains: Sequence[Gain]) -> list[bool]:
    """Of all gains of a table. At most a share of FALSE_DISCOVERIES is expected to be none: Y. Benjamini and
    Y. Hochberg, J. R. Stat. Soc. B 57 (1995) 289.

    If many are faster, that alone would allow intervals that contain 1."""
    if not gains:
        return []
    adjusted = stats.false_discovery_control([gain.p for gain in gains])
    return [
        bool(p <= FALSE_DISCOVERIES and gain.low > 1 and gain.times_faster >= LEAST_GAIN)
        for p, gain in zip(adjusted, gains, strict=True)
    ]
