"""The ranks of each node together."""

from collections import defaultdict
from dataclasses import dataclass

from .amounts import shown_bytes
from .recorded import Rank

HEADINGS = ["node", "ranks", "in MPI", "least", "most", "memory"]
_UNEVEN = 1.5  # the largest share of MPI over the smallest


def in_part(heading: str) -> str:
    """The heading of a column. If a user chose a part of the profile, only these calls have a share."""
    return "in the chosen calls" if heading == "in MPI" else heading


@dataclass(frozen=True)
class Node:
    """``share``: the share of MPI in the time of the ranks that reached MPI_Finalize. ``least``, ``most``: the same for
    single ranks. They are None if no rank reached it. ``memory_kib``: the sum of the largest memories of all ranks."""

    name: str
    ranks: int
    share: float | None
    least: float | None
    most: float | None
    memory_kib: int


def nodes_of(ranks: list[Rank]) -> list[Node]:
    """The nodes, in the order of their lowest ranks."""
    by_host: dict[str, list[Rank]] = defaultdict(list)
    for rank in sorted(ranks, key=lambda rank: rank.rank):
        by_host[rank.host].append(rank)
    return [_node(name, there) for name, there in by_host.items()]


def _node(name: str, ranks: list[Rank]) -> Node:
    ended = [(rank.in_mpi, rank.thread_s) for rank in ranks if rank.seconds]
    shares = [in_mpi / seconds for in_mpi, seconds in ended]
    whole = sum(in_mpi for in_mpi, _ in ended) / sum(seconds for _, seconds in ended) if ended else None
    memory = sum(rank.memory_kib for rank in ranks)
    return Node(name, len(ranks), whole, min(shares, default=None), max(shares, default=None), memory)


def rows_of(nodes: list[Node]) -> list[list[str]]:
    """Rows with the columns HEADINGS."""
    return [
        [node.name, str(node.ranks), *(_percent(share) for share in (node.share, node.least, node.most)),
         shown_bytes(1024 * node.memory_kib)]
        for node in nodes
    ]  # fmt: skip


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def remark_on(nodes: list[Node]) -> str:
    """A sentence if the ranks of a node make the other ranks wait; empty if not, or if it is not known."""
    shares = sorted((node.share, node.name) for node in nodes if node.share is not None)
    if len(shares) < 2 or shares[-1][0] <= _UNEVEN * shares[0][0]:
        return ""
    (low, first), (high, last) = shares[0], shares[-1]
    return (
        f"The ranks on {first} are in MPI for the smallest share of their time ({low:.0%}), those on {last} for the "
        f"largest ({high:.0%}). Either {first} is slower, or its ranks have more work."
    )
