"""Selects points for drawing, so that the important ones stay visible."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def envelope(values: np.ndarray, limit: int) -> np.ndarray:
    """Indices, in order, of at most about ``limit`` values, or of all if there are not more. Each of limit / 4 equal
    intervals gives its lowest value, its highest value, and two values at fixed places. NaN is ignored."""
    import numpy as np

    n = len(values)
    if n <= limit:
        return np.arange(n)
    edges = np.linspace(0, n, limit // 4 + 1).astype(int)
    starts, width = edges[:-1], np.diff(edges)
    with np.errstate(invalid="ignore"):
        least = _extreme(np.where(np.isnan(values), np.inf, values), starts, np.minimum)
        most = _extreme(np.where(np.isnan(values), -np.inf, values), starts, np.maximum)
    return np.unique(np.concatenate([least, most, starts, starts + width // 2, [n - 1]]))


def _extreme(values: np.ndarray, starts: np.ndarray, ufunc: np.ufunc) -> np.ndarray:
    """The first index of each interval's extreme."""
    import numpy as np

    lengths = np.diff(np.append(starts, len(values)))
    extremes = np.repeat(ufunc.reduceat(values, starts), lengths)
    hits = np.flatnonzero(values == extremes)
    stretch = np.repeat(np.arange(len(starts)), lengths)[hits]
    _, first = np.unique(stretch, return_index=True)
    chosen: np.ndarray = hits[first]
    return chosen


def best_and_some(x: np.ndarray, merit: np.ndarray, limit: int) -> np.ndarray:
    """Indices of at most about ``limit`` points. A third of them are the best of all points. A sixth are the best
    points of equally wide intervals of x. The rest are every k-th point. ``merit``: lower is better."""
    import numpy as np

    n = len(merit)
    if n <= limit:
        return np.arange(n)
    best = np.argpartition(merit, limit // 3)[: limit // 3]
    low, high = x.min(), x.max()
    stretch = np.zeros(n) if high <= low else np.floor((x - low) / (high - low) * (limit // 6) * (1 - 1e-12))
    by_stretch = np.lexsort((merit, stretch))
    _, first = np.unique(stretch[by_stretch], return_index=True)
    every = np.arange(0, n, max(1, n // (limit // 2)))
    return np.unique(np.concatenate([best, by_stretch[first], every]))


def evenly(n: int, limit: int) -> np.ndarray:
    """Indices of at most ``limit`` of n, at equal distances, with the first and the last."""
    import numpy as np

    return np.arange(n) if n <= limit else np.unique(np.linspace(0, n - 1, limit).astype(int))
