"""Which algorithm is the fastest, and how much faster than the MPI's own choice."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from ...base.text import span_of
from ...launch.mpi.collectives import DEFAULT
from ..words import shown_size
from .points import BARRIERS
from .samples import Measured, Table


def headings(baseline: str = DEFAULT) -> list[str]:
    return ["MPI", "collective", "ranks", "size", "fastest", "time in µs", f"times faster than {baseline}"]


@dataclass(frozen=True)
class Winner:
    """``gain``: time of the baseline / time of the fastest one, from ``least_gain`` to ``most_gain`` with the
    ends of both intervals; 1 if that was not measured (``compared``). ``name``: the baseline unless another one is
    faster beyond doubt."""

    mpi: str
    collective: str
    ranks: int
    size: int
    name: str
    found: Measured
    gain: float = 1.0
    least_gain: float = 1.0
    most_gain: float = 1.0
    compared: bool = True


def winners(table: Table, baseline: str = DEFAULT) -> list[Winner]:
    """The winner of each place where an algorithm is known to have run."""
    return [found for place in table.places() if (found := _winner(table, place, baseline)) is not None]


def unclear(table: Table, won: Sequence[Winner]) -> int:
    """The number of places without a winner, because the baseline was not measured and intervals overlap. ``won``: the
    winners of this table."""
    verified = [[found for found in table.algorithms(place).values() if found.verified] for place in table.places()]
    return sum(bool(there) for there in verified) - len(won)


def _winner(table: Table, place: tuple[str, str, int, int], baseline: str) -> Winner | None:
    """Only an algorithm that is known to have run can win, and only if it is clearly different.

    Its interval must not overlap that of the baseline. Among these algorithms, the one with the least median wins. If
    the baseline was not measured, the winner's interval must not overlap that of any other algorithm.
    """
    there = {name: found for name, found in table.algorithms(place).items() if found.verified}
    base = there.get(baseline)
    if not there:
        return None
    if base is None:
        (name, found), *others = there.items()
        is_clear = not any(other.interval.overlaps(found.interval) for _, other in others)
        return Winner(*place, name, found, compared=False) if is_clear else None
    own = base.interval
    for name, found in takewhile(lambda pair: pair[0] != baseline, there.items()):
        best = found.interval
        if not best.overlaps(own):
            return Winner(*place, name, found, own.median / best.median, own.low / best.high, own.high / best.low)
    return Winner(*place, baseline, base)


def rows_of(won: Sequence[Winner], baseline: str = DEFAULT) -> list[list[str]]:
    """Of the winners of a table. Neighbouring sizes with the same winner share a line."""
    out = []
    for _, group in groupby(won, lambda w: (w.mpi, w.collective, w.ranks, w.name)):
        same = list(group)
        first, last = same[0], same[-1]
        sizes = shown_size(first.size) if first is last else f"{shown_size(first.size)} – {shown_size(last.size)}"
        out.append(
            [
                first.mpi,
                first.collective,
                str(first.ranks),
                sizes if first.collective not in BARRIERS else "–",
                first.name,
                span_of([w.found.interval.median * 1e6 for w in same]),
                "–" if first.name == baseline or not first.compared else span_of([w.gain for w in same]),
            ]
        )
    return out
