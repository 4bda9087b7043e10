"""When the ranks were in MPI, in bins that are the same for all ranks; and the phases of the program."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .layout import KINDS
from .recorded import Rank

_MOST_BINS = 200
_MOST_PHASES = 8
_LEAST_SHARE = 0.04  # of the run, for a phase
_LEAST_S = 0.1  # for a phase: the system takes a CPU away for milliseconds, which is no phase of the program
_LEAST_CHANGE = 0.15  # of the time, from a phase to the next
_LEAST_NOISE = 0.08

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Common:
    """Shares of the time in each kind of function."""

    bin_s: float
    ranks: list[int]
    shares: Array
    """Of shape (ranks, bins, len(KINDS))."""

    @property
    def edges(self) -> Array:
        """Seconds since MPI_Init at which the bins begin, and the end of the last one."""
        return np.arange(self.shares.shape[1] + 1) * self.bin_s


@dataclass(frozen=True)
class Phase:
    begin_s: float
    end_s: float
    shares: Array
    """Shares of the time of all ranks in each kind of function."""

    @property
    def in_mpi(self) -> float:
        return float(self.shares.sum())

    @property
    def mostly(self) -> str:
        """The kind of function with the most time; empty if hardly any is in MPI."""
        return KINDS[int(np.argmax(self.shares))] if self.in_mpi >= 0.01 else ""


def common_timeline(ranks: list[Rank]) -> Common | None:
    """None if no rank called MPI, or if the run was shorter than four bins."""
    used = [rank for rank in ranks if len(rank.timeline.seconds)]
    longest = max((len(rank.timeline.seconds) * rank.timeline.bin_s for rank in used), default=0.0)
    widest = max((rank.timeline.bin_s for rank in used), default=0.0)
    if longest < 4 * widest or not any(rank.timeline.seconds.any() for rank in used):
        return None
    bin_s = widest * np.ceil(longest / widest / _MOST_BINS)
    bins = int(np.ceil(longest / bin_s - 1e-9))
    shares = np.stack([_rebinned(rank, bins, float(bin_s)) for rank in used])
    return Common(float(bin_s), [rank.rank for rank in used], np.minimum(shares, 1.0))


def _rebinned(rank: Rank, bins: int, bin_s: float) -> Array:
    """Shares of the time. The last bin may end after the rank."""
    own = rank.timeline
    edges = np.arange(len(own.seconds) + 1) * own.bin_s
    sums = np.vstack([np.zeros(len(KINDS)), np.cumsum(own.seconds, axis=0)])
    wanted = np.arange(bins + 1) * bin_s
    at = np.stack([np.interp(wanted, edges, sums[:, k]) for k in range(len(KINDS))], axis=1)
    end = edges[-1] if rank.seconds is None else rank.seconds
    widths = np.maximum(np.minimum(wanted[1:], end) - np.minimum(wanted[:-1], end), 1e-12)
    full = np.where(widths < 1e-3 * bin_s, bin_s, widths)
    if own.thread_s is not None:
        threads = np.interp(wanted, edges, np.concatenate([[0.0], np.cumsum(own.thread_s)]))
        full = np.maximum(full, np.diff(threads))
    return np.asarray(np.diff(at, axis=0) / full[:, None], dtype=np.float64)


def phases_of(timeline: Common) -> list[Phase]:
    """Parts of the run with different shares of MPI. There is one phase if the shares do not change much.

    The method is optimal partitioning (Jackson et al., IEEE Signal Processing Letters 12 (2005) 105). It minimizes the
    squared deviations from the means of the parts, plus a penalty for each part.
    """
    series = timeline.shares.mean(axis=0)
    bins = len(series)
    least = max(2, int(np.ceil(max(_LEAST_SHARE * bins, _LEAST_S / timeline.bin_s))))
    noise = max(_LEAST_NOISE, float(np.median(np.abs(np.diff(series, axis=0)).sum(axis=1))))
    bounds = _divided(series, least, penalty=3 * noise**2 * np.log(bins))
    if len(bounds) - 1 > _MOST_PHASES:
        bounds = [0, bins]
    bounds = _joined(series, bounds)
    edges = timeline.edges
    return [Phase(float(edges[a]), float(edges[b]), series[a:b].mean(axis=0)) for a, b in pairwise(bounds)]


def _divided(series: Array, least: int, penalty: float) -> list[int]:
    """The bins at which the parts begin, and the end of the last one."""
    bins = len(series)
    sums = np.vstack([np.zeros(series.shape[1]), np.cumsum(series, axis=0)])
    squares = np.concatenate([[0.0], np.cumsum((series**2).sum(axis=1))])
    costs, before = np.full(bins + 1, np.inf), np.zeros(bins + 1, int)
    costs[0] = 0
    for end in range(least, bins + 1):
        begins = np.arange(0, end - least + 1)
        mean_squares = ((sums[end] - sums[begins]) ** 2).sum(axis=1) / (end - begins)
        tried = costs[begins] + squares[end] - squares[begins] - mean_squares + penalty
        before[end] = int(np.argmin(tried))
        costs[end] = tried[before[end]]
    bounds = [bins]
    while bounds[0] > 0:
        bounds.insert(0, int(before[bounds[0]]))
    return bounds


def _joined(series: Array, bounds: list[int]) -> list[int]:
    """The bounds without changes that are too small for a new phase, or smaller than the scatter within a phase."""
    kept = [0]
    for at, end in pairwise(bounds[1:]):
        before, after = series[kept[-1] : at], series[at:end]
        change = np.abs(after.mean(axis=0) - before.mean(axis=0))
        scatter = np.maximum(before.std(axis=0), after.std(axis=0))
        if (change >= np.maximum(_LEAST_CHANGE, scatter)).any():
            kept.append(at)
    return [*kept, bounds[-1]]
