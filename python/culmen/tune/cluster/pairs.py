"""Whether an algorithm is faster than the MPI's own choice: both are called in turns, in launches of their own."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ...bench.collectives.points import Point, Protocol, by_place

VISITS = 10  # of both, in each launch
LAUNCHES = 5
LEAST_GAIN = 1.02  # less is not worth a change
FALSE_DISCOVERIES = 0.05  # the share of choices that may be no faster
_CONFIDENCE = 0.95


def next_pairs(points: list[Point], _protocol: Protocol, rng: random.Random) -> list[Point]:
    """For ``measure_points``: at each place first one, then the other. Both the order of the places and of the two are
    random."""
    pairs = by_place(p for p in points if not (p.unavailable or p.ended) and len(p.visits) < VISITS)
    rng.shuffle(pairs)
    for pair in pairs:
        rng.shuffle(pair)
    return [point for pair in pairs for point in pair]


@dataclass(frozen=True)
class Gain:
    """Time of the MPI's own choice / time of the algorithm, as the median of all pairs, with its interval of 95 %.
    ``p``: the probability of such pairs if the algorithm were no faster. ``in_all``: it was faster in each launch."""

    times_faster: float
    low: float
    high: float
    p: float
    in_all: bool
    pairs: int


def gain_of(launches: Sequence[Sequence[tuple[float, float]]]) -> Gain:
    """``launches``: the pairs of each launch, of times of the MPI's own choice and of the algorithm.

    The interval is that of the order of the pairs (David and Nagaraja, Order Statistics, 3rd ed. (2003), section 7.1),
    the probability is from F. Wilcoxon, Biometrics Bulletin 1 (1945) 80.
    """
    logs = [np.log([own / other for own, other in pairs]) for pairs in launches if len(pairs)]
    every = np.sort(np.concatenate(logs)) if logs else np.array([])
    n = len(every)
    if n == 0:
        return Gain(1.0, 0.0, np.inf, 1.0, False, 0)
    below = int(stats.binom.ppf((1 - _CONFIDENCE) / 2, n, 0.5))
    low, high = (every[below - 1], every[n - below]) if below > 0 else (-np.inf, np.inf)
    p = float(stats.wilcoxon(every, alternative="greater").pvalue) if np.any(every) else 1.0
    in_all = len(logs) == len(launches) and all(np.median(each) > 0 for each in logs)
    return Gain(float(np.exp(np.median(every))), float(np.exp(low)), float(np.exp(high)), p, in_all, n)


def are_faster(gains: Sequence[Gain]) -> list[bool]:
    """Of all gains of a table. At most a share of FALSE_DISCOVERIES is expected to be none: Y. Benjamini and
    Y. Hochberg, J. R. Stat. Soc. B 57 (1995) 289."""
    if not gains:
        return []
    adjusted = stats.false_discovery_control([gain.p for gain in gains])
    return [
        bool(p <= FALSE_DISCOVERIES and gain.low > 1 and gain.in_all and gain.times_faster >= LEAST_GAIN)
        for p, gain in zip(adjusted, gains, strict=True)
    ]
