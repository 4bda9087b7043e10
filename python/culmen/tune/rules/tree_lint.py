"""The real effect of a tree of MPICH, in words, and its mistakes."""

import re
from collections.abc import Iterator

from ...launch.mpi.collectives import Collectives
from .lint import LARGEST, said_span
from .trees import (
    ELEMENT,
    FLAT,
    OF_ALL,
    PARENT,
    Call,
    Tree,
    bytes_of_pow2,
    for_any_time,
    is_of_communicator,
    leaves,
    name_of_leaf,
    of_nodes,
    way_to_leaf,
)
from .tried import Expected

_MOST_RANKS = 128  # largest number of ranks that is checked
_SHOWN = 5
# The sizes that MPICH 4.0.2 has for calls of a collective. For other collectives, culmen does not know them.
_BOTH, _TOTAL, _NONE = frozenset(("avg_msg_size", "total_msg_size")), frozenset(("total_msg_size",)), frozenset[str]()
_SIZES = {
    **dict.fromkeys(("bcast", "reduce", "allreduce", "alltoall"), _BOTH),
    **dict.fromkeys(("allgather", "allgatherv", "alltoallv", "gather", "scatter"), _TOTAL),
    **dict.fromkeys(("reduce_scatter", "reduce_scatter_block"), _TOTAL),
    **dict.fromkeys(("gatherv", "scatterv", "scan", "exscan", "barrier"), _NONE),
}
_VALUES = {"comm_type": {"intra", "inter"}, "comm_hierarchy": {"parent", "node_roots", "node", "flat"}}
# Kinds of communicators: words for them, and what is true for them.
_KINDS = {
    "": (", all on one node", OF_ALL),
    PARENT: (", several on some node", of_nodes(2, 2)[0]),
    FLAT: (", one on each node", of_nodes(2, 1)[0]),
}
Row = tuple[str, int, int, int | None, str]  # collective, ranks, first and last size (None: no end), algorithm


class TreeLint:
    """``usual``: the tree of the library, with which the file is compared."""

    def __init__(self, tree: Tree, usual: Tree, known: Collectives) -> None:
        self._tree, self._usual, self._known = tree, usual, known
        bounds = [int(found) for key in _keys(tree) for found in re.findall(r"comm_size<=?(\d+)", key)]
        self.most_ranks = min(_MOST_RANKS, max([8, *(bound + 1 for bound in bounds)]))

    def ends_programs(self) -> Iterator[str]:
        """Mistakes that end programs that read the file, or that make some of the calls."""
        missing = [key.partition("=")[2] for key in self._usual if key not in self._tree]
        if missing:
            more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
            yield f"The file has nothing for {', '.join(missing[:_SHOWN])}{more}: programs that call them end."
        for key, below in self._tree.items():
            name = key.partition("=")[2]
            wrong = sorted({leaf for leaf in leaves(below) if leaf not in self._algorithms(key)})
            if wrong:
                yield f"{name} has no {wrong[0].partition('=')[2]} in MPICH: such calls, or each program, end."
            if gap := _gap_in(below, self._usual.get(key, {})):
                yield f"'{key} → {gap}' has nothing for other calls: they end the program."
            asked = {found for each in _keys(below) for found in re.findall(r"\w+_msg_size", each)}
            if name in _SIZES and (without := sorted(asked - _SIZES[name])):
                yield f"MPICH has no {without[0]} for {name}: such calls end the program."

    def findings(self) -> Iterator[str]:
        yield from self.ends_programs()
        yield from _never(self._tree, [], True)

    def differences(self, kind: str = "") -> list[Row]:
        """Calls for which the file has another algorithm than the library. ``kind``: of the communicators, see
        trees.kind_of()."""
        return [
            row
            for name in self._known.of
            if f"collective={name}" in self._tree
            for ranks in range(2, self.most_ranks + 1)
            for row in self._of(name, ranks, _KINDS[kind][1])
        ]

    def in_words(self) -> list[list[str]]:
        """Lines of a table, for communicators of all kinds."""
        of = {words: self.differences(kind) for kind, (words, _) in _KINDS.items()}
        everywhere = set.intersection(*map(set, of.values()))
        of = {
            "": [*everywhere],
            **{words: [row for row in rows if row not in everywhere] for words, rows in of.items()},
        }
        return sorted((line for words, rows in of.items() for line in in_words(rows, words)), key=lambda line: line[0])

    def routed(self) -> list[str]:
        """Collectives for which MPICH asks the rules for several nodes only with the second file."""
        there = {row[0] for row in self.differences(PARENT)}
        return [name for name, table in self._known.of.items() if name in there and "route" in table]

    def expected(self, most_ranks: int) -> Iterator[Expected]:
        """A call for each difference, with at most ``most_ranks`` ranks."""
        for name, ranks, first, last, leaf in self.differences():
            size = -(-max(first, 1) // 8) * 8
            names = self._known.of[name]["algorithms"]
            short = next((each for each in names if name_of_leaf(name, each) == f"algorithm={leaf}"), "")
            fits = "in_rules" in self._known.of[name] and size <= min(LARGEST, last if last is not None else size)
            if ranks <= most_ranks and short and (fits or name == "barrier"):
                yield Expected(name, ranks, 0 if name == "barrier" else size, short)

    def _of(self, name: str, ranks: int, true: frozenset[str]) -> Iterator[Row]:
        of = [tree.get(f"collective={name}", {}) for tree in (self._tree, self._usual)]
        starts = sorted({0, *(start for tree in of for start in _sizes(tree, ranks))})
        spans: list[Row] = []
        for first, following in zip(starts, [*starts[1:], None], strict=True):
            call = Call(name, ranks, first, true)
            own, usual = (_leaf(tree, call) for tree in (self._tree, self._usual))
            last = None if following is None else following - 1
            if own == usual:
                continue
            if spans and (spans[-1][4], spans[-1][3]) == (own, first - 1):
                first = spans.pop()[2]
            spans.append((name, ranks, first, last, own))
        yield from spans

    def _algorithms(self, key: str) -> set[str]:
        """The leaves that this collective can have."""
        name = key.partition("=")[2]
        of = self._known.of.get(name, {"algorithms": []})
        own = {leaf for leaf in leaves(self._usual) if leaf.startswith(f"algorithm=MPIR_{name.capitalize()}_")}
        return own | set(leaves(self._usual.get(key, {}))) | {name_of_leaf(name, each) for each in of["algorithms"]}


def _gap_in(tree: Tree, usual: Tree) -> str:
    """The path to a list of conditions that may all be false for a call; empty if there is none. Lists that are as in
    the library do not count."""
    if tree == usual or not tree:
        return ""
    keys = list(tree)
    names = {key.partition("=")[0] for key in keys}
    all_of = any(key.endswith("=any") or key.startswith("algorithm=") for key in keys)
    for name in names & set(_VALUES):
        all_of = all_of or {key.partition("=")[2] for key in keys if key.startswith(f"{name}=")} >= _VALUES[name]
    all_of = all_of or any(name.startswith("is_") and {f"{name}=yes", f"{name}=no"} <= set(keys) for name in names)
    if not all_of and set(keys) != set(usual):
        return keys[-1]
    below = ((key, _gap_in(tree[key], usual.get(key, {}))) for key in keys if not key.startswith("algorithm="))
    return next((f"{key} → {gap}" for key, gap in below if gap), "")


def _leaf(tree: Tree, call: Call) -> str:
    way = way_to_leaf(tree, call)
    return way[-1].partition("=")[2] if way and way[-1].startswith("algorithm=") else "nothing: the program ends"


def _keys(tree: Tree) -> Iterator[str]:
    for key, below in tree.items():
        yield key
        yield from _keys(below)


def _sizes(tree: Tree, ranks: int) -> Iterator[int]:
    """The first sizes for which conditions are no longer true."""
    for key in _keys(tree):
        if key == "count<pow2":
            yield bytes_of_pow2(ranks)
        elif found := re.fullmatch(r"(avg_msg_size|total_msg_size|count)(<=?)(\d+)", key):
            end = int(found[3]) + (found[2] == "<=")
            yield {"total_msg_size": -(-end // ranks), "count": end * ELEMENT}.get(found[1], end)


def _never(tree: Tree, way: list[str], by_communicator: bool) -> Iterator[str]:
    """Conditions that never hold: they come after one that is always true, or after a larger bound of the same kind."""
    seen: dict[str, int] = {}
    whole = ""
    for key, below in tree.items():
        by_communicator = by_communicator and is_of_communicator(key)
        found = re.fullmatch(r"(\w+)(<=?)(\d+)", for_any_time(key, by_communicator))
        bound = int(found[3]) + (found[2] == "<=") if found else 0
        if whole or (found and bound <= seen.get(found[1], -1)):
            yield f"'{' → '.join([*way, key])}' never holds: a condition before it is true for the same calls."
        elif found:
            seen[found[1]] = bound
        whole = whole or (key if key.endswith("=any") or key.startswith("algorithm=") else "")
        if not key.startswith("algorithm="):
            yield from _never(below, [*way, key], by_communicator)


def in_words(rows: list[Row], where: str = "") -> list[list[str]]:
    """Lines of a table. Equal rows for consecutive numbers of ranks share a line. ``where``: words after the ranks."""
    out: list[tuple[Row, int]] = []
    for row in sorted(rows, key=lambda row: (row[0], row[2], row[4], row[1])):
        if out and (out[-1][0][0], *out[-1][0][2:]) == (row[0], *row[2:]) and out[-1][1] == row[1] - 1:
            out[-1] = (out[-1][0], row[1])
        else:
            out.append((row, row[1]))
    return [
        [name, (f"{low} – {high}" if high > low else str(low)) + where, said_span(first, last), leaf]
        for (name, low, first, last, leaf), high in out
    ]
