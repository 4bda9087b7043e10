"""Models of the time of one message between two ranks, and the network that collectives are predicted from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .robust import Estimate, fit, smooth
from .segments import Segmented, segmented


@dataclass(frozen=True)
class Hockney:
    """The time of a message of m bytes is ``alpha`` + ``beta`` m, in seconds.

    R. W. Hockney, Parallel Computing 20 (1994) 389.
    """

    alpha: Estimate
    beta: Estimate

    def at(self, size: float) -> float:
        return self.alpha.value + self.beta.value * size


@dataclass(frozen=True)
class LogGP:
    """The time of a message of m bytes is ``latency`` + (m - 1) ``gap``, in seconds.

    A. Alexandrov et al., LogGP (SPAA 1995). ``latency`` is L + 2o: the latency of the network and the overheads of both
    ranks. Times of messages cannot tell L and o apart, and a single message does not show the gap g between messages.
    """

    latency: Estimate
    gap: Estimate

    def at(self, size: float) -> float:
        return self.latency.value + self.gap.value * max(size - 1, 0)


def hockney(sizes: Sequence[float], times: Sequence[float]) -> Hockney:
    """``sizes`` in bytes, at least two different ones. ``times`` in seconds, with relative errors."""
    return Hockney(*_line(np.asarray(sizes, float), np.asarray(times, float)))


def loggp(sizes: Sequence[float], times: Sequence[float]) -> LogGP:
    """As ``hockney``."""
    return LogGP(*_line(np.maximum(np.asarray(sizes, float) - 1, 0), np.asarray(times, float)))


def _line(x: np.ndarray, y: np.ndarray) -> tuple[Estimate, Estimate]:
    design, least = np.stack([np.ones_like(x), x], axis=1), 0.1 * smooth(y)
    found = fit(design, y, smooth(y))
    for _ in range(2):
        found = fit(design, y, np.maximum(design @ found.values, least))
    return found.estimate(np.array([1.0, 0.0])), found.estimate(np.array([0.0, 1.0]))


@dataclass(frozen=True)
class Network:
    """``segments``: the time of a message in seconds, over its size in bytes. ``reduce_s``: seconds for each byte that
    a rank adds to its own. ``largest``: bytes of the largest message that was measured."""

    segments: Segmented
    reduce_s: float
    largest: float

    def send(self, size: float) -> float:
        """Seconds. Beyond the largest message, the time is proportional to the size or grows with the last line."""
        if size <= self.largest:
            return max(self.segments.at(size), 0.0)
        at_largest = max(self.segments.at(self.largest), 0.0)
        slope = max(self.segments.segments[-1].slope.value, 0.0)
        return at_largest + slope * (size - self.largest)


def network(sends: dict[int, float], reductions: dict[int, float]) -> Network:
    """From the times of single messages in seconds by their size, and of reductions between two ranks.

    The time of a reduced byte is the median of (reduction - message) / size for the larger half of the common sizes,
    and at least 0.
    """
    sizes = sorted(sends)
    found = segmented(sizes, [sends[size] for size in sizes])
    common = sorted(size for size in set(sends) & set(reductions) if size > 0)
    extra = [(reductions[size] - sends[size]) / size for size in common[len(common) // 2 :]]
    return Network(found, max(float(np.median(extra)), 0.0) if extra else 0.0, float(sizes[-1]))
