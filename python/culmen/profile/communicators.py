"""The ranks of a communicator."""

from .recorded import Rank

WORLD = "world"


def members_of(ranks: list[Rank], communicator: str, size: int) -> dict[int, int]:
    """The ranks in MPI_COMM_WORLD, by the ranks in a communicator of this name and size; empty if several communicators
    have this name. ``ranks``: of one world."""
    if communicator == WORLD:
        return {number: number for number in range(size)}
    there = [(rank.numbers[communicator], rank.rank) for rank in ranks if communicator in rank.numbers]
    return dict(there) if sorted(number for number, _ in there) == list(range(size)) else {}
