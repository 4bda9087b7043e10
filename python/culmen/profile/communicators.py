"""The ranks of a communicator."""

from collections import defaultdict

from .recorded import Rank

WORLD = "world"


def members_of(ranks: list[Rank], communicator: str, size: int) -> dict[int, int]:
    """The ranks in MPI_COMM_WORLD, by the ranks in a communicator of this name and size; empty if several communicators
    have this name. ``ranks``: of one world."""
    if communicator == WORLD:
        return {number: number for number in range(size)}
    there = [(rank.numbers[communicator], rank.rank) for rank in ranks if communicator in rank.numbers]
    return dict(there) if sorted(number for number, _ in there) == list(range(size)) else {}


def groups_of(ranks: list[Rank]) -> dict[tuple[str, int], tuple[int, ...]]:
    """The ranks in MPI_COMM_WORLD of all communicators, in the order of each communicator. A key is the communicator's
    name, and the first of these ranks, or -1 if it is not known. Communicators of one name and first rank that are not
    told apart are left out. ``ranks``: of one world."""
    there: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for rank in ranks:
        for name, number in rank.numbers.items():
            there[name, rank.firsts.get(name, -1)].append((number, rank.rank))
    return {
        key: tuple(rank for _, rank in sorted(places))
        for key, places in there.items()
        if sorted(number for number, _ in places) == list(range(len(places)))
    }
