"""The request for the tuning of a program's collectives: the benchmark calls them on communicators like the program's.

The benchmark has as many ranks as the program, on each node as many as there. Some of them then form a communicator of
the same ranks. If the program has several such communicators of one split, for example the rows of a grid, all of them
call at the same time. Programs usually do so, too, and the communicators then share the memory or the network.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from ...base.text import plural
from ...bench.collectives.plan import Plan
from ...bench.collectives.points import Protocol
from ...bench.layouts import Layout
from ...bench.splits import Split, groups_text
from ...launch.mpi import Launcher
from ...profile.recorded import Rank
from ..cluster.asked import Part, Tuning
from .cells import Cell, Communicator, on_nodes_of, sizes_of

_Each = TypeVar("_Each", bound=Hashable)
HEADINGS = ["collective", "communicator", "ranks", "nodes", "bytes", "share of the run"]
TEXTS = (HEADINGS[0], HEADINGS[1], HEADINGS[3])


def rows_of(cells: Iterable[Cell]) -> list[list[str]]:
    """The list of the cells, with the columns HEADINGS."""
    return [
        [each.collective, _names_of(each), str(each.ranks), shown_nodes(each.on_nodes), str(each.least),
         f"{each.share:.1%}"]
        for each in cells
    ]  # fmt: skip


def _names_of(cell: Cell) -> str:
    """The name of the communicators with the most time."""
    names = _by_time([(one.name, share) for one, share in cell.communicators])
    there = {one for one, _ in cell.communicators if one.name == names[0]}
    number = f" ({len(there)} of them)" if len(there) > 1 else ""
    return f"{names[0]}{number}" + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def shown_nodes(on_nodes: Sequence[int]) -> str:
    """Such as "2 × 4 ranks"."""
    if not on_nodes:
        return "not known"
    if len(on_nodes) == 1:
        return "1"
    if min(on_nodes) == max(on_nodes):
        return f"{len(on_nodes)} × {plural(on_nodes[0], 'rank')}"
    return f"{len(on_nodes)}, at most {plural(max(on_nodes), 'rank')} on one"


def tunable(cells: Sequence[Cell]) -> tuple[list[Cell], list[str]]:
    """The cells that rules can hold, and sentences about the others. There is one choice for all communicators with the
    same number of ranks. So of their cells, those with the nodes that take the most time are tuned."""
    said = []
    kept = []
    for name, ranks in dict.fromkeys((each.collective, each.ranks) for each in cells):
        there = [each for each in cells if (each.collective, each.ranks) == (name, ranks)]
        first, *others = _by_time([(each.on_nodes, each.share) for each in there])
        kept += [each for each in there if each.on_nodes == first]
        if others:
            said.append(
                f"culmen makes one choice for each number of ranks: {name} with {ranks} ranks is tuned for "
                f"{_on(first)}, and not for {' and '.join(map(_on, others))}."
            )
    return kept, said


def _on(on_nodes: Sequence[int]) -> str:
    return f"{plural(len(on_nodes), 'node')} ({_most(on_nodes)})" if on_nodes else "nodes that are not known"


def _most(on_nodes: Sequence[int]) -> str:
    return f"at most {plural(max(on_nodes), 'rank')} on one" if len(on_nodes) > 1 else plural(on_nodes[0], "rank")


def _by_time(shares: Iterable[tuple[_Each, float]]) -> list[_Each]:
    """The different ones, most time first."""
    sums: dict[_Each, float] = defaultdict(float)
    for each, share in shares:
        sums[each] += share
    return sorted(sums, key=lambda each: -sums[each])


def tuning_of(
    launcher: Launcher, cells: Sequence[Cell], ranks: Sequence[Rank], seconds: float, allowed: tuple[bool, bool]
) -> Tuning:
    """A request that measures both ends of each size class, so that a rule holds between them. ``cells``: see
    ``tunable``. ``ranks``: of the program. ``seconds``: budget of each point. ``allowed``: ``same_types`` and
    ``commutative`` of ``Tuning``."""
    parts = tuple(_parts(cells, ranks))
    wanted = Plan(
        launcher,
        launcher.mpi.name,
        tuple(dict.fromkeys(part.collective for part in parts)),
        tuple(sorted({part.ranks for part in parts})),
        tuple(sorted({size for part in parts for size in part.sizes})),
        (),
        Protocol(0.1, seconds, 0, 60.0),
    )
    for part in parts:
        part.plan(wanted).check()
    return replace(Tuning(wanted, *allowed), only=parts)


def _parts(cells: Sequence[Cell], ranks: Sequence[Rank]) -> Iterator[Part]:
    for name, number in dict.fromkeys((cell.collective, cell.ranks) for cell in cells):
        there = [cell for cell in cells if (cell.collective, cell.ranks) == (name, number)]
        sizes = {size for cell in there for size in sizes_of(cell)} or {0}
        yield Part(name, number, tuple(sorted(sizes)), _split_of(there, ranks))


def _split_of(cells: Sequence[Cell], ranks: Sequence[Rank]) -> Split | None:
    """Of cells with the same nodes. None: one communicator of all ranks, or the profile does not know the ranks."""
    shares = [each for cell in cells for each in cell.communicators if each[0].members]
    if not shares:
        return None
    name = _by_time([(one.name, share) for one, share in shares])[0]
    groups = list(_apart(_by_time([each for each in shares if each[0].name == name])))
    hosts = {rank.rank: rank.host for rank in sorted(ranks, key=lambda rank: rank.rank)}
    numbers, mapping = _placed(hosts)
    on_nodes = on_nodes_of(groups[0], hosts)
    if groups == [tuple(sorted(hosts))] and len(on_nodes) == 1:
        return None
    text = groups_text(sorted([numbers[rank] for rank in group] for group in groups))
    return Split(len(hosts), text, len(on_nodes), max(on_nodes), mapping)


def _apart(communicators: Iterable[Communicator]) -> Iterator[tuple[int, ...]]:
    """The ranks of communicators that have no rank in common."""
    seen: set[int] = set()
    for each in communicators:
        if seen.isdisjoint(each.members):
            seen.update(each.members)
            yield each.members


def _placed(hosts: dict[int, str]) -> tuple[dict[int, int], str]:
    """The numbers that the program's ranks have in a launch that fills one node after the other, and the mapping of
    this launch."""
    order = {host: place for place, host in enumerate(dict.fromkeys(hosts.values()))}
    filled = sorted(hosts, key=lambda rank: (order[hosts[rank]], rank))
    on_nodes = on_nodes_of(filled, hosts)
    is_even = len(on_nodes) > 1 and min(on_nodes) == max(on_nodes)
    mapping = Layout(len(on_nodes), on_nodes[0]).mapping if is_even else ""
    return {rank: number for number, rank in enumerate(filled)}, mapping
