"""Layouts of ranks: the number of nodes, and the number of ranks on each of them. A layout is launched as a mapping."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from .._core import InputError
from ..base.text import plural
from ..launch.allocation import tasks_on_nodes
from ..launch.mpi import Launcher
from .words import words_of

NODES, PER_NODE = "--node-counts", "--ranks-per-node"
_NAME = re.compile(r"(\d+)-per-node")
_MOST = 4096


class Layout(NamedTuple):
    nodes: int
    per_node: int

    @property
    def ranks(self) -> int:
        return self.nodes * self.per_node

    @property
    def mapping(self) -> str:
        return f"{self.per_node}-per-node"

    def __str__(self) -> str:
        return f"{plural(self.nodes, 'node')} with {plural(self.per_node, 'rank')} each"


def layouts_of(node_counts: str | None, per_node: str | None, nodes: int, other: str = "") -> tuple[Layout, ...]:
    """Each number of nodes with each number of ranks per node; none without these options. Those with one rank are left
    out. ``nodes``: number of nodes of the job; 0 if unknown. ``other``: an option that gives the ranks in another way.
    Raises InputError for a wrong option."""
    if per_node is None:
        if node_counts is not None:
            raise InputError(f"{NODES} needs {PER_NODE}, for example {PER_NODE} 1,4")
        return ()
    if other:
        what = "where the ranks run" if other == "--mapping" else "how many ranks there are"
        raise InputError(f"{other} and {PER_NODE} both say {what}; give only one of them")
    usual = f"{nodes or len(tasks_on_nodes()) or 1}"
    all_of = [
        Layout(number, each)
        for number in _numbers(node_counts or usual, NODES)
        for each in _numbers(per_node, PER_NODE)
    ]
    found = tuple(sorted(layout for layout in all_of if layout.ranks > 1))
    if not found:
        raise InputError(f"{PER_NODE} {per_node}: one rank on one node calls no other rank; give more ranks or nodes")
    if (most := max(layout.ranks for layout in found)) > _MOST:
        raise InputError(f"{PER_NODE} {per_node}: at most {_MOST} ranks can be measured, not {most}")
    return found


def _numbers(text: str, option: str) -> list[int]:
    words = words_of(text, option, "write numbers with commas between them")
    for word in words:
        if not word.isdecimal() or not 1 <= int(word) <= _MOST:
            raise InputError(f"{option}: '{word}' is not a number from 1 to {_MOST}")
    return sorted({int(word) for word in words})


def per_node_of(mapping: str) -> int:
    """The ranks per node of a mapping; 0 if it is not a layout."""
    found = _NAME.fullmatch(mapping)
    return int(found[1]) if found else 0


def flags_of(launcher: Launcher, per_node: int) -> list[str]:
    """Words for the launcher. Raises InputError if culmen does not know them."""
    placement = launcher.mpi.placement
    if placement is None or not placement.per_node:
        raise InputError(f"{PER_NODE}: culmen does not know how {launcher.mpi.title} places ranks on nodes")
    return [word.format(per_node=per_node) for word in placement.per_node]


def joined(flags: Iterable[str]) -> list[str]:
    """The words with `--map-by` only once, because a launcher accepts it only once. `--map-by :MODIFIER` is put into
    another `--map-by`."""
    out: list[str] = []
    modifiers = ""
    words = iter(flags)
    for word in words:
        value = next(words, "") if word == "--map-by" else ""
        if value.startswith(":"):
            modifiers += value
        else:
            out += [word, value] if value else [word]
    if not modifiers:
        return out
    if "--map-by" not in out:
        return [*out, "--map-by", modifiers]
    out[out.index("--map-by") + 1] += modifiers
    return out


def check_room(layouts: Iterable[Layout]) -> None:
    """Raises InputError if this allocation has no room for one of them."""
    tasks = sorted(tasks_on_nodes(), reverse=True)
    for layout in layouts if tasks else ():
        if layout.nodes > len(tasks):
            raise InputError(f"{NODES} {layout.nodes}: this allocation has {plural(len(tasks), 'node')}")
        if layout.per_node > tasks[layout.nodes - 1]:
            raise InputError(
                f"{PER_NODE} {layout.per_node}: this allocation has room for {plural(tasks[layout.nodes - 1], 'rank')} "
                "on a node; give fewer ranks, or allocate more tasks"
            )


def check_placed(mapping: str, ranks: int, found: tuple[int, int]) -> None:
    """``found``: the number of nodes, and the most ranks on one. Raises InputError if the launcher used another
    layout."""
    per_node = per_node_of(mapping)
    if per_node and found != (ranks // per_node, per_node):
        raise InputError(
            f"{PER_NODE}: culmen asked for {Layout(ranks // per_node, per_node)}, but the launcher used "
            f"{plural(found[0], 'node')} with up to {plural(found[1], 'rank')} each"
        )


def one_for_each_number(layouts: Iterable[Layout]) -> tuple[tuple[Layout, ...], list[str]]:
    """The layouts that a rules file can hold, and a sentence for each number of ranks with layouts that are left out.
    Of the layouts with the same number of ranks, the one with the fewest nodes stays, because launchers fill a node
    before the next one."""
    by_ranks: dict[int, list[Layout]] = {}
    for layout in sorted(layouts):
        by_ranks.setdefault(layout.ranks, []).append(layout)
    said = [
        f"A rules file cannot tell {' and '.join(map(str, there))} apart: culmen tunes only {there[0]}."
        for _, there in sorted(by_ranks.items())
        if len(there) > 1
    ]
    return tuple(there[0] for there in by_ranks.values()), said
