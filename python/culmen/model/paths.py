"""Analytic models of collectives: the messages one after the other on the longest way through an algorithm.

All functions take the number of ranks P ≥ 2 and the message size m in bytes, as `culmen bench collectives` counts it.
The time of a path is the sum of the times of its messages, plus the time for the bytes that are reduced. With Hockney's
α + β m for a message and γ for a reduced byte, these are the formulas of

- [T] R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49
- [P] J. Pjesivac-Grbovic et al., Cluster Comput. 10 (2007) 127
- [C] J. Chen et al., HPC Asia (2005) 437

Links and ranks do not disturb each other in these models. ⌈lg P⌉ is the number of rounds of a tree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ..bench.collectives.messages import power_of_two


class Messages(NamedTuple):
    steps: float  #: their number
    size: float  #: bytes of each


@dataclass(frozen=True)
class Path:
    """``messages``: one after the other. ``reduced``: bytes that ranks on the path add to their own."""

    messages: tuple[Messages, ...]
    reduced: float = 0.0

    def __add__(self, other: Path) -> Path:
        return Path(self.messages + other.messages, self.reduced + other.reduced)

    @property
    def count(self) -> float:
        """The factor of α."""
        return sum(each.steps for each in self.messages)

    @property
    def size(self) -> float:
        """The factor of β: bytes."""
        return sum(each.steps * each.size for each in self.messages)

    def time(self, send: Callable[[float], float], reduce_s: float = 0.0) -> float:
        """Seconds. ``send``: seconds for a message of these bytes. ``reduce_s``: seconds for a reduced byte."""
        return sum(each.steps * send(each.size) for each in self.messages) + reduce_s * self.reduced


def _path(count: float, size: float, reduced: float = 0.0) -> Path:
    return Path((Messages(count, size),), reduced)


def rounds(ranks: int) -> int:
    """⌈lg P⌉."""
    return (ranks - 1).bit_length()


def _segments(size: float, segment: float) -> tuple[int, float]:
    """Number and size of the segments. ``segment`` 0: the message is one."""
    count = math.ceil(size / segment) if segment and size else 1
    return count, size / count


# One to all, and all to one. `reduced` is m for a reduction and 0 for a broadcast, in each message.


def linear(ranks: int, size: float, reduced: bool = False) -> Path:
    """The root exchanges the message with one rank after the other: (P - 1)(α + β m) [P]."""
    return _path(ranks - 1, size, reduced * (ranks - 1) * size)


def chain(ranks: int, size: float, segment: float = 0, chains: int = 1, reduced: bool = False) -> Path:
    """Each rank passes segments on to the next: (P + n - 2)(α + β m / n) for n segments [P].

    With several chains, the root sends each segment to each of them.
    """
    count, part = _segments(size, segment)
    chains = min(chains, ranks - 1)
    steps = chains * count + math.ceil((ranks - 1) / chains) - 1
    return _path(steps, part, reduced * steps * part)


def pipeline(ranks: int, size: float, segment: float = 0, reduced: bool = False) -> Path:
    """A single chain [P]."""
    return chain(ranks, size, segment, 1, reduced)


def binomial(ranks: int, size: float, reduced: bool = False) -> Path:
    """⌈lg P⌉(α + β m) [T, P]."""
    return _path(rounds(ranks), size, reduced * rounds(ranks) * size)


def binary(ranks: int, size: float, segment: float = 0, reduced: bool = False) -> Path:
    """Two messages in each step: 2(⌈lg(P + 1)⌉ + n - 2)(α + β m / n) for n segments [P]."""
    count, part = _segments(size, segment)
    steps = 2 * max(rounds(ranks + 1) + count - 2, 1) if ranks > 2 else count
    return _path(steps, part, reduced * steps * part)


def split_binary(ranks: int, size: float, segment: float = 0) -> Path:
    """Each half of the message goes down one half of a binary tree; then pairs exchange their halves [P]."""
    if ranks == 2:
        return _path(1, size)
    return binary(ranks, size / 2, segment) + _path(1, size / 2)


def k_nomial(ranks: int, size: float, radix: int = 4) -> Path:
    """Each rank sends to radix - 1 others in a round: (k - 1)⌈log_k P⌉(α + β m), with fewer in the last round."""
    sent, reached = 0, 1
    while reached < ranks:
        sent += min(radix - 1, math.ceil(ranks / reached) - 1)
        reached *= radix
    return _path(sent, size)


def _halves(ranks: int, size: float) -> Path:
    """m/2, m/4, … : ⌈lg P⌉ α + β m (P - 1) / P, as in a scatter along a binomial tree [T]."""
    parts = [Messages(1, size / 2 ** (k + 1)) for k in range(power_of_two(ranks).bit_length() - 1)]
    if power_of_two(ranks) < ranks:
        parts.append(Messages(1, size * (1 / power_of_two(ranks) - 1 / ranks)))
    return Path(tuple(parts))


def scatter_allgather(ranks: int, size: float) -> Path:
    """A scatter along a tree, then an allgather by recursive doubling: 2⌈lg P⌉ α + 2 β m (P - 1) / P [T]."""
    return _halves(ranks, size) + _halves(ranks, size)


def scatter_ring(ranks: int, size: float) -> Path:
    """Van de Geijn's: a scatter, then an allgather along a ring: (⌈lg P⌉ + P - 1) α + 2 β m (P - 1) / P [T]."""
    return _halves(ranks, size) + _path(ranks - 1, size / ranks)


def tree_of_blocks(ranks: int, size: float) -> Path:
    """Gather or scatter along a binomial tree: ⌈lg P⌉ α + β m (P - 1), with blocks of m [T]."""
    return _halves(ranks, size * ranks)


# Reductions whose result is needed everywhere, or in parts.


def recursive_doubling(ranks: int, size: float) -> Path:
    """All ranks exchange vectors in pairs: lg P (α + β m + γ m) [T]. The ranks beyond a power of two are folded in."""
    count = rounds(power_of_two(ranks))
    return _path(count, size, count * size) + _folded(ranks, size)


def _folded(ranks: int, size: float, back: bool = True) -> Path:
    """The ranks beyond a power of two give their vector to others first, and may get the result at the end [T]."""
    if power_of_two(ranks) == ranks:
        return Path(())
    return _path(1 + back, size, size)


def ring_reduction(ranks: int, size: float) -> Path:
    """Reduce-scatter and allgather along a ring: 2(P - 1) α + (2 β + γ) m (P - 1) / P [T]."""
    return _path(2 * (ranks - 1), size / ranks, size * (ranks - 1) / ranks)


def rabenseifner(ranks: int, size: float, back: bool = True) -> Path:
    """Recursive halving, then recursive doubling or a gather: 2 lg P α + (2 β + γ) m (P - 1) / P [T].

    ``back``: ranks beyond a power of two need the result, too.
    """
    power = power_of_two(ranks)
    reduced = Path((), size * (power - 1) / power)
    return _halves(power, size) + _halves(power, size) + reduced + _folded(ranks, size, back)


def reduce_then(ranks: int, size: float, then: Path) -> Path:
    """A reduction along a binomial tree, then another operation."""
    return binomial(ranks, size, reduced=True) + then


def recursive_halving(ranks: int, size: float) -> Path:
    """Reduce-scatter with blocks of m, vectors of n = P m: lg P α + (β + γ) n (P - 1) / P [T]."""
    power, vector = power_of_two(ranks), ranks * size
    fold = _folded(ranks, vector, back=False) + (_path(1, size) if power < ranks else Path(()))
    return _halves(power, vector) + Path((), vector * (power - 1) / power) + fold


def doubling_blocks(ranks: int, size: float) -> Path:
    """Reduce-scatter by recursive doubling: lg P α + (β + γ) n (lg P - (P - 1) / P) [T]."""
    vector, count = ranks * size, rounds(ranks)
    sizes = [vector - 2**k * size for k in range(count)]
    sizes = [max(each, size) for each in sizes]
    return Path(tuple(Messages(1, each) for each in sizes), sum(sizes))


def pairwise_reduction(ranks: int, size: float) -> Path:
    """Reduce-scatter in P - 1 exchanges of a block: (P - 1)(α + β m + γ m) [T]."""
    return _path(ranks - 1, size, (ranks - 1) * size)


def prefix_doubling(ranks: int, size: float) -> Path:
    """A scan in ⌈lg P⌉ exchanges, in each of which a rank may add twice."""
    return _path(rounds(ranks), size, 2 * rounds(ranks) * size)


# Blocks of m bytes between all ranks.


def doubling_allgather(ranks: int, size: float) -> Path:
    """Blocks double in each round: ⌈lg P⌉ α + β m (P - 1) [T]. Also Bruck's algorithm."""
    return _halves(ranks, ranks * size)


def ring(ranks: int, size: float) -> Path:
    """Blocks go round: (P - 1)(α + β m) [T]."""
    return _path(ranks - 1, size)


def neighbours(ranks: int, size: float) -> Path:
    """Neighbours exchange one block, then two blocks in each round: P / 2 α + β m (P - 1) [C]."""
    return _path(1, size) + _path(max(ranks / 2 - 1, 0), 2 * size)


def pairwise(ranks: int, size: float) -> Path:
    """Each rank exchanges a block with each other: (P - 1)(α + β m) [T]."""
    return _path(ranks - 1, size)


def synchronised(ranks: int, size: float) -> Path:
    """As ``linear``, with an empty message before each block: (P - 1)(2 α + β m) [P]."""
    return _path(ranks - 1, 0) + _path(ranks - 1, size)


def bruck(ranks: int, size: float) -> Path:
    """All to all: in each of ⌈lg P⌉ rounds a rank sends half of its blocks: ⌈lg P⌉(α + β m P / 2) [T]."""
    return _path(rounds(ranks), size * ranks / 2)


def one_exchange(_ranks: int, size: float) -> Path:
    """For two ranks: α + β m."""
    return _path(1, size)


def empty(count: float) -> Path:
    """Messages without content, as in a barrier [P]."""
    return _path(count, 0)
