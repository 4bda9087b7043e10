"""The times of ranks that were killed."""

from dataclasses import replace

from .recorded import Rank


def with_known_times(ranks: list[Rank]) -> list[Rank]:
    """The same ranks if one of them reached MPI_Finalize. Otherwise their times end with their last recorded calls."""
    return ranks if any(rank.seconds for rank in ranks) else [_with_known_time(rank) for rank in ranks]


def _with_known_time(rank: Rank) -> Rank:
    known_s, threads = rank.known_s, rank.timeline.thread_s
    if known_s == 0:
        return rank
    thread_s = max(known_s, rank.in_mpi, 0.0 if threads is None else float(threads.sum()))
    return replace(rank, seconds=known_s, more_threads_s=thread_s - known_s)
