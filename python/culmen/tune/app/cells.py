"""The collectives that are worth tuning for one program."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...base.text import shown_share
from ...launch.mpi.collectives import Collectives
from ...profile.communicators import groups_of
from ...profile.recorded import FURTHER, Calls, Rank
from ..rules.made import can_hold

MATTERS = 0.01  # least share of the run for which a cell is tuned
_MOST = 12  # largest number of cells that are tuned


class Communicator(NamedTuple):
    """``name``: common to all parts of its split. ``members``: its ranks in MPI_COMM_WORLD, in its order; empty if they
    are not known."""

    name: str
    members: tuple[int, ...]


class Cell(NamedTuple):
    """Calls of one collective with messages of one size class. ``size_class``: as in profiles. ``share``: part of the
    time of all ranks. ``on_nodes``: how many ranks of a communicator are on each node, most first; empty if it is not
    known, or makes no difference. ``communicators``: those that make the calls, with their share. ``call_s``: mean
    time of a call in seconds; 0 if it is not known."""

    collective: str
    ranks: int
    size_class: int
    least: int  # mean bytes of a call, as far as the profile knows
    share: float
    on_nodes: tuple[int, ...] = ()
    communicators: tuple[tuple[Communicator, float], ...] = ()
    call_s: float = 0.0


_Key = tuple[str, int, int]  # of a communicator: its name, its first rank, and its number of ranks


@dataclass
class _Sum:
    calls: int = 0
    bytes: int = 0
    seconds: float = 0
    of: dict[_Key, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, calls: Calls, key: _Key) -> None:
        self.calls += calls.calls
        self.bytes += calls.bytes
        self.seconds += calls.total_s
        self.of[key] += calls.total_s


def cells_of(ranks: list[Rank], known: Collectives, apart: bool = False) -> list[Cell]:
    """The cells that are worth tuning, those that take most time first. ``apart``: communicators of the same size whose
    ranks are on other nodes have cells of their own."""
    run_s = sum(rank.thread_s for rank in ranks)
    communicators = _Communicators(ranks)
    sums: dict[tuple[str, int, int, tuple[int, ...]], _Sum] = defaultdict(_Sum)
    for rank in ranks:
        for calls in rank.calls:
            name = _tunable(calls, known)
            if name and calls.size_class is not None and calls.ranks >= 2:
                key = communicators.key_of(rank, calls)
                on_nodes = communicators.on_nodes(key) if apart else ()
                sums[name, calls.ranks, calls.size_class, on_nodes].add(calls, key)
    cells = [
        Cell(
            *key[:3],
            one.bytes // max(1, one.calls),
            one.seconds / run_s,
            key[3],
            communicators.shares(one, run_s),
            one.seconds / max(1, one.calls),
        )
        for key, one in sums.items()
        if run_s and one.seconds / run_s >= MATTERS
    ]
    return sorted(cells, key=lambda cell: -cell.share)[:_MOST]


class _Communicators:
    """Those of a program. Many ranks call with each of them, so each is looked at only once."""

    def __init__(self, ranks: list[Rank]) -> None:
        self._hosts = {rank.rank: rank.host for rank in ranks}
        self._groups = groups_of(ranks)
        self._names: dict[_Key, str] = {}
        self._on_nodes: dict[_Key, tuple[int, ...]] = {}

    def key_of(self, rank: Rank, calls: Calls) -> _Key:
        key = calls.communicator, rank.firsts.get(calls.communicator, -1), calls.ranks
        if key not in self._names:
            self._names[key] = calls.communicators
        return key

    def on_nodes(self, key: _Key) -> tuple[int, ...]:
        """See Cell."""
        if key not in self._on_nodes:
            is_one = len({*self._hosts.values()}) == 1
            self._on_nodes[key] = (key[2],) if is_one else on_nodes_of(self._members(key), self._hosts)
        return self._on_nodes[key]

    def _members(self, key: _Key) -> tuple[int, ...]:
        members = self._groups.get(key[:2], ())
        return members if len(members) == key[2] else ()

    def shares(self, one: _Sum, run_s: float) -> tuple[tuple[Communicator, float], ...]:
        return tuple(
            (Communicator(self._names[key], self._members(key)), seconds / run_s) for key, seconds in one.of.items()
        )


def on_nodes_of(members: Sequence[int], hosts: dict[int, str]) -> tuple[int, ...]:
    """See Cell. ``hosts``: of the ranks in MPI_COMM_WORLD."""
    return tuple(sorted(Counter(hosts[rank] for rank in members).values(), reverse=True))


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
