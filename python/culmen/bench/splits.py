"""Communicators that call a collective at the same time, among more ranks."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .._core import InputError
from ..base.text import plural


class Split(NamedTuple):
    """``ranks``: of MPI_COMM_WORLD. ``groups``: the ranks of each communicator, in its order; all have the same number.
    ``nodes``, ``per_node``: of each communicator; the second is the most ranks on one node. ``mapping``: of all
    ranks."""

    ranks: int
    groups: str
    nodes: int
    per_node: int
    mapping: str = ""

    def __str__(self) -> str:
        """For ``split_of``."""
        return " ".join([str(self.ranks), self.groups, str(self.nodes), str(self.per_node), self.mapping])

    def check(self, found: tuple[int, int]) -> None:
        """``found``: the number of nodes, and the most ranks on one. Raises InputError if the launcher has put the
        ranks on other nodes."""
        if found != (self.nodes, self.per_node):
            raise InputError(
                f"a communicator must have {_shown(self.nodes, self.per_node)}, as in the program, but culmen's launch "
                f"of {plural(self.ranks, 'rank')} gave it {_shown(*found)}"
            )


def split_of(text: str) -> Split | None:
    """None if the text is empty."""
    if not text:
        return None
    ranks, groups, nodes, per_node, mapping = text.split(" ")
    return Split(int(ranks), groups, int(nodes), int(per_node), mapping)


def _shown(nodes: int, per_node: int) -> str:
    return f"{plural(nodes, 'node')} with up to {plural(per_node, 'rank')} each"


def groups_text(groups: Sequence[Sequence[int]]) -> str:
    """As the benchmark reads it: "0-3;4-7" or "0-6:2;1-7:2"."""
    return ";".join(",".join(_runs(group)) for group in groups)


def _runs(numbers: Sequence[int]) -> Iterator[str]:
    begin = 0
    while begin < len(numbers):
        end, step = begin + 1, numbers[begin + 1] - numbers[begin] if begin + 1 < len(numbers) else 1
        while end < len(numbers) and numbers[end] - numbers[end - 1] == step:
            end += 1
        first, last = numbers[begin], numbers[end - 1]
        yield str(first) if first == last else f"{first}-{last}" + (f":{step}" if step != 1 else "")
        begin = end
