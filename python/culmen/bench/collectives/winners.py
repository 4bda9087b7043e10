"""Which algorithm is the fastest, and how much faster than the MPI's own choice."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from ...base.text import span_of
from ...launch.mpi.collectives import DEFAULT
from ..sampling import Interval, interval
from ..words import shown_size
from .points import BARRIERS
from .samples import Measured, Table

_SPREAD = 10  # between the ends of a gain; a larger one comes from other programs that stall some of the rounds


def headings(baseline: str = DEFAULT) -> list[str]:
    return ["MPI", "collective", "ranks", "size", "fastest", "time in µs", f"times faster than {baseline}"]


@dataclass(frozen=True)
class Winner:
    """``gain``: time of the baseline / time of the fastest one, the median over the rounds that both share, with an
    interval of 95 % from ``least_gain`` to ``most_gain``; 1 if that was not measured (``compared``). ``name``: the
    baseline unless another one is faster beyond doubt."""

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

    Algorithms stop at different times. Therefore an algorithm and the baseline are compared in the rounds that both
    share: only these had the same disturbances. Their intervals in these rounds must not overlap. Among these
    algorithms, the one with the largest gain wins. If the baseline was not measured, the algorithm with the least
    median must be clearly faster than each other algorithm.
    """
    there = {name: found for name, found in table.algorithms(place).items() if found.verified}
    base = there.get(baseline)
    if not there:
        return None
    if base is None:
        (name, found), *others = there.items()
        is_clear = all(_gain(found, other) for _, other in others)
        return Winner(*place, name, found, compared=False) if is_clear else None
    gains = {name: gain for name, found in there.items() if name != baseline and (gain := _gain(found, base))}
    if not gains:
        return Winner(*place, baseline, base)
    best = max(gains, key=lambda name: gains[name].median)
    return Winner(*place, best, there[best], *gains[best])


def _gain(found: Measured, other: Measured) -> Interval | None:
    """Time of the other one / time of this one, in shared rounds. None if this one is not clearly faster in them."""
    pairs = found.shared_with(other)
    if not pairs:
        return None
    own, others = (interval([[t] for t in times]) for times in zip(*pairs, strict=True))
    gain = interval([[b / a] for a, b in pairs if a > 0])
    is_clear = own.high < others.low and gain.exists and gain.low > 1 and gain.high < _SPREAD * gain.low
    return gain if is_clear else None


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
