"""How many times faster the calls are on average, with intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ...launch.mpi.collectives import DEFAULT
from .choices import Choice, Tuned
from .pairs import interval_of


@dataclass(frozen=True)
class Average:
    """The geometric mean of the gains at several sizes. A point that keeps the default counts as 1. ``least``,
    ``most``: the sizes in bytes. ``interval``: low and high; None if all points keep the default, so that the mean is 1
    by definition, or if the gains of the launches are not known."""

    collective: str
    ranks: int
    points: int
    least: int
    most: int
    times_faster: float
    interval: tuple[float, float] | None


def averages(tuned: Tuned) -> Iterator[Average]:
    """One for each collective and number of ranks."""
    for (name, ranks), group in groupby(tuned.choices, lambda c: (c.place.collective, c.place.ranks)):
        here = list(group)
        sizes = [each.place.size for each in here]
        mean = float(np.exp(np.mean(np.log([each.times_faster for each in here]))))
        yield Average(name, ranks, len(here), min(sizes), max(sizes), mean, _interval(here, tuned.confidence))


def _interval(here: Sequence[Choice], confidence: float) -> tuple[float, float] | None:
    """A launch measures all sizes, so only launches are independent: each gives one number, its mean over the
    sizes."""
    logs = [each.logs for each in here if each.algorithm != DEFAULT]
    launches = min(map(len, logs), default=0)
    if not launches or max(map(len, logs)) > launches:
        return None
    _, low, high = interval_of(list(np.sum(logs, axis=0) / len(here)), confidence)
    return low, high
