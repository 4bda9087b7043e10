"""The points of a collective that are measured, and how."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...launch.mpi.collectives import DEFAULT, Algorithm
from ..sampling import Limits, Series

_ROOTED = ("bcast", "reduce", "gather", "gatherv", "scatter", "scatterv")
BARRIERS = ("barrier", "ibarrier")
"""Collectives without a message."""
_ONE_BLOCK = ("barrier", "bcast", "reduce", "allreduce", "scan", "exscan")


def blocks_of(collective: str, ranks: int) -> int:
    """The number of blocks of the message size in the larger buffer of a rank."""
    return 1 if collective.removeprefix("i") in _ONE_BLOCK else ranks


def roots_of(collective: str, roots: Sequence[int]) -> list[int]:
    """The roots to measure. A collective without a root is measured once."""
    return list(roots if collective.removeprefix("i") in _ROOTED else roots[:1])


@dataclass(frozen=True)
class Protocol(Limits):
    """``timeout_s``: time limit for one answer of the ranks."""

    timeout_s: float = 60.0


def by_place(points: Iterable["Point"]) -> list[list["Point"]]:
    """The points, with those of the same size and root together."""
    out: dict[tuple[int, int], list[Point]] = defaultdict(list)
    for point in points:
        out[point.size, point.root].append(point)
    return list(out.values())


@dataclass
class Point(Series):
    """One algorithm with one message size and one root."""

    algorithm: Algorithm = Algorithm(DEFAULT, {})  # noqa: RUF009 - it is frozen
    size: int = 0
    root: int = 0
    checked: bool = False  #: one call gave the right result, or it is unavailable
    verified: bool = True
    is_shown: bool = False  #: the MPI shows which algorithm ran
    unavailable: str = ""  #: why it cannot be measured
    ended: bool = False  #: its algorithm, or the launch, cannot be used any more; earlier visits are kept

    def give_up(self, why: str) -> None:
        """Ends the visits of this point."""
        self.ended = True
        if not self.visits:
            self.unavailable = why
