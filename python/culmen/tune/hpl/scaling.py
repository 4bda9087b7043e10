"""The time of HPL for a problem of another size, and the sizes that fit into a memory or a time.

The model is T(N) = F(N) / R + c N², with F(N) = 2/3 N³ + 3/2 N² operations as HPL counts them. R is the rate of the
matrix products, which take nearly all of the time if N is large. c N² stands for all work that grows more slowly:
messages, panels, exchanges of rows. These are the two largest terms of the model in HPL's documentation, "HPL
Scalability Analysis". Its terms are 2 N³ / (3 P Q γ) for products, and β N² (3 P + Q) / (2 P Q) for messages. Terms in
N are left out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

BYTES = 8  # of one number
_MARGIN = 1.02  # memory with panels and right-hand side / memory of the matrix
_LARGEST = 2_000_000


@dataclass(frozen=True)
class Curve:
    """``per_operation_s``: 1 / R. ``per_entry_s``: c."""

    per_operation_s: float
    per_entry_s: float

    def time_s(self, n: int) -> float:
        return operations(n) * self.per_operation_s + n * n * self.per_entry_s

    def gflops(self, n: int) -> float:
        return operations(n) / self.time_s(n) * 1e-9

    def size_for(self, seconds: float) -> int:
        """The largest N whose run takes at most ``seconds``."""
        low, high = 1, _LARGEST
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.time_s(middle) <= seconds else (low, middle - 1)
        return low


def operations(n: int) -> float:
    """The number of operations, as HPL counts them."""
    return (2 / 3 * n + 3 / 2) * n * n


def fitted(runs: Sequence[tuple[int, float]]) -> Curve:
    """``runs``: N and the speed in GFLOPS, of at least one run. The fit minimizes relative errors, and no term is
    negative. If all runs have the same N, the second term is 0."""
    times = [operations(n) / gflops * 1e-9 for n, gflops in runs]
    rows = np.array([[operations(n) / t, n * n / t] for (n, _), t in zip(runs, times, strict=True)])
    if len({n for n, _ in runs}) == 1:
        return Curve(float(1 / rows[:, 0].mean()), 0.0)
    scale = rows.max(axis=0)
    found, _ = nnls(rows / scale, np.ones(len(rows)))
    per_operation, per_entry = found / scale
    if per_operation <= 0:  # noise: the larger run alone is the better guess
        return fitted([max(runs)])
    return Curve(float(per_operation), float(per_entry))


def size_in(memory: float) -> int:
    """The largest N whose matrix fits into ``memory`` bytes."""
    return math.isqrt(int(memory / (BYTES * _MARGIN)))


def bytes_for(n: int) -> float:
    return BYTES * _MARGIN * n * n
