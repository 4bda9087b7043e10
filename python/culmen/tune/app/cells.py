"""The collectives that are worth tuning for one program, and the request for their tuning."""

from collections import defaultdict
from dataclasses import replace
from typing import NamedTuple

from ...base.text import shown_share
from ...bench.collectives.plan import Plan
from ...bench.collectives.points import Protocol
from ...launch.mpi import Launcher
from ...launch.mpi.collectives import Collectives
from ...profile.recorded import FURTHER, Calls, Rank
from ..cluster.asked import Tuning
from ..rules.made import can_hold

MATTERS = 0.01  # least share of the run for which a cell is tuned
_MOST = 12  # largest number of cells that are tuned


class Cell(NamedTuple):
    """Calls of one collective with messages of one size class. ``size_class``: as in profiles. ``share``: part of the
    time of all ranks."""

    collective: str
    ranks: int
    size_class: int
    least: int  # mean bytes of a call, as far as the profile knows
    share: float


def cells_of(ranks: list[Rank], known: Collectives) -> list[Cell]:
    """The cells that are worth tuning, those that take most time first."""
    run_s = sum(rank.thread_s for rank in ranks)
    seconds: dict[tuple[str, int, int], float] = defaultdict(float)
    amounts: dict[tuple[str, int, int], list[int]] = defaultdict(lambda: [0, 0])
    for rank in ranks:
        for calls in rank.calls:
            name = _tunable(calls, known)
            if not name or calls.size_class is None or calls.ranks < 2:
                continue
            key = name, calls.ranks, calls.size_class
            seconds[key] += calls.total_s
            amounts[key][0] += calls.calls
            amounts[key][1] += calls.bytes
    cells = [
        Cell(*key, amounts[key][1] // max(1, amounts[key][0]), total / run_s)
        for key, total in seconds.items()
        if run_s and total / run_s >= MATTERS
    ]
    return sorted(cells, key=lambda cell: -cell.share)[:_MOST]


def _tunable(calls: Calls, known: Collectives) -> str:
    """The name of the collective; empty if no rules can be made for it."""
    name = calls.function.removeprefix("MPI_").lower()
    return name if name in known.of and can_hold(name, known) else ""


def remark_on_room(ranks: list[Rank], known: Collectives) -> str:
    """A sentence about collectives that are not tuned, because the profile had no room for their sizes and
    communicators; empty if there are none."""
    lost_s = sum(
        calls.total_s for rank in ranks for calls in rank.calls if calls.size_class is None and _tunable(calls, known)
    )
    if not lost_s:
        return ""
    share = shown_share(lost_s / sum(rank.in_mpi for rank in ranks))
    return (
        f"Collectives with {share} of the time in MPI are not tuned, because the profile had no room for their "
        f"communicators and sizes (`{FURTHER}`)."
    )


def remarks_without_rules(ranks: list[Rank], known: Collectives) -> list[str]:
    """A sentence for each collective that takes much of the run, but has no rules."""
    run_s = sum(rank.thread_s for rank in ranks)
    seconds: dict[str, float] = defaultdict(float)
    for calls in (calls for rank in ranks for calls in rank.calls):
        name = calls.function.removeprefix("MPI_").lower()
        if name in known.measurable and not can_hold(name, known):
            seconds[name] += calls.total_s
    return [
        f"{name} takes {share:.1%} of the run, but is not tuned: {known.why_no_rules(name)}."
        for name, total_s in sorted(seconds.items(), key=lambda each: -each[1])
        if run_s and (share := total_s / run_s) >= MATTERS
    ]


def tuning_of(launcher: Launcher, cells: list[Cell], seconds: float, allowed: tuple[bool, bool]) -> Tuning:
    """A request that measures both ends of each size class, so that a rule holds between them. ``seconds``: budget of
    each point. ``allowed``: ``same_types`` and ``commutative`` of ``Tuning``."""
    sizes = {size for cell in cells for size in sizes_of(cell)} or {0}
    wanted = Plan(
        launcher,
        launcher.mpi.name,
        tuple(dict.fromkeys(cell.collective for cell in cells)),
        tuple(sorted({cell.ranks for cell in cells})),
        tuple(sorted(sizes)),
        (),
        Protocol(0.1, seconds, 0, 60.0),
    )
    wanted.check()
    return replace(Tuning(wanted, *allowed), only=frozenset((cell.collective, cell.ranks) for cell in cells))


def sizes_of(cell: Cell) -> set[int]:
    """Message sizes in bytes, as ``culmen bench collectives`` counts them. For some collectives, a profile counts the
    bytes that a rank has for all ranks."""
    if cell.size_class == 0:  # a barrier, or calls that move nothing
        return set()
    ends = (2 ** (cell.size_class - 1), 2**cell.size_class)
    return {max(8, end // cell.ranks // 8 * 8) if is_of_all(cell) else end for end in ends}


def is_of_all(cell: Cell) -> bool:
    """Whether a profile counts what a rank has for all ranks, and not for one."""
    return cell.collective in ("alltoall", "alltoallv", "reduce_scatter", "reduce_scatter_block")
