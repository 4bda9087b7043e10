"""The messages of the nonblocking algorithms of Open MPI's component libnbc, versions 4.1 and 5.

The number of messages of each rank shows which algorithm ran. The component may silently use another one, for example
if there are fewer numbers than ranks.

Sources of the algorithms: T. Hoefler, A. Lumsdaine, W. Rehm, "Implementation and Performance Analysis of Non-Blocking
Collective Operations for MPI", SC07; R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High Perform. Comput. Appl. 19
(2005) 49.
"""

from collections.abc import Callable, Iterator

SENDS = "sends:"
_CHAIN_BYTES, _REDUCE_CHAIN_BYTES = 16384, 8192  # of a part
_RADIX = 4  # of a k-nomial tree
_NUMBER = 4  # bytes of a number that culmen reduces

_Sends = Callable[[int, int, int, int], int]  # of rank, ranks, bytes, root


def sends(collective: str, algorithm: str, ranks: int, size: int, root: int) -> str:
    """SENDS and the number of messages that each rank sends, such as "sends:1,0". Empty if it is not known."""
    of = _ALGORITHMS.get((collective, algorithm))
    if of is None or not _can_run(collective, algorithm, ranks, size, root):
        return ""
    return SENDS + ",".join(str(of(rank, ranks, size, root)) for rank in range(ranks))


def _can_run(collective: str, algorithm: str, ranks: int, size: int, root: int) -> bool:
    """Whether the component can use this algorithm. Otherwise it uses another one."""
    if algorithm == "rabenseifner":  # the messages to another root than 0 are not known
        return root == 0 and size // _NUMBER >= power_of_two(ranks) and (ranks > 2 or collective == "iallreduce")
    return (collective, algorithm) != ("iallgather", "recursive_doubling") or power_of_two(ranks) == ranks


def power_of_two(ranks: int) -> int:
    """The largest power of two that is not larger than ``ranks``."""
    return 1 << (ranks.bit_length() - 1)


def _swapped(rank: int, root: int) -> int:
    """The number of a rank if rank 0 and the root change places."""
    return root if rank == 0 else 0 if rank == root else rank


def _doublings(ranks: int) -> Iterator[int]:
    """1, 2, 4, …, below the number of ranks."""
    step = 1
    while step < ranks:
        yield step
        step *= 2


def _to_all(rank: int, ranks: int, _size: int, root: int) -> int:
    return ranks - 1 if rank == root else 0


def _binomial(rank: int, ranks: int, _size: int, root: int) -> int:
    own = _swapped(rank, root)
    return sum(own < step and own + step < ranks for step in _doublings(ranks))


def _chain(rank: int, ranks: int, size: int, root: int) -> int:
    return -(-size // _CHAIN_BYTES) if _swapped(rank, root) != ranks - 1 else 0


def _knomial(rank: int, ranks: int, _size: int, root: int) -> int:
    own, step, out = (rank - root) % ranks, 1, 0
    while step < ranks and own % (_RADIX * step) == 0:
        out += sum(own + k * step < ranks for k in range(1, _RADIX))
        step *= _RADIX
    return out


def _reduce_chain(rank: int, _ranks: int, size: int, root: int) -> int:
    return -(-size // _REDUCE_CHAIN_BYTES) if rank != root else 0


def _to_parent(rank: int, _ranks: int, _size: int, root: int) -> int:
    return int(rank != root)


def _paired(rank: int, ranks: int) -> tuple[int, bool]:
    """The number of messages of this rank to its partner, and whether the partner then continues for both.

    If the number of ranks is no power of two, the first ranks begin in pairs.
    """
    if rank >= 2 * (ranks - power_of_two(ranks)):
        return 0, False
    return (1, False) if rank % 2 == 0 else (2, True)


def _rounds(ranks: int) -> int:
    """The number of rounds in which ranks exchange data in pairs, until each has all data."""
    return power_of_two(ranks).bit_length() - 1


def _reduce_parts(rank: int, ranks: int, _size: int, _root: int) -> int:
    first, is_out = _paired(rank, ranks)
    return first if is_out else first + _rounds(ranks) + (rank != 0)


def _allreduce_parts(rank: int, ranks: int, _size: int, _root: int) -> int:
    first, is_out = _paired(rank, ranks)
    back = int(first == 1)  # the result for the other one
    return first if is_out else first + 2 * _rounds(ranks) + back


def _allreduce_tree(rank: int, ranks: int, size: int, _root: int) -> int:
    return _to_parent(rank, ranks, size, 0) + _binomial(rank, ranks, size, 0)


def _allreduce_doubling(rank: int, ranks: int, _size: int, _root: int) -> int:
    if rank >= 2 * (ranks - power_of_two(ranks)):
        return _rounds(ranks)
    return 1 if rank % 2 == 0 else _rounds(ranks) + 1


def _ring(_rank: int, ranks: int, _size: int, _root: int) -> int:
    return 2 * (ranks - 1)


def _to_each(_rank: int, ranks: int, _size: int, _root: int) -> int:
    return ranks - 1


def _allgather_doubling(_rank: int, ranks: int, _size: int, _root: int) -> int:
    return _rounds(ranks)


def _to_next(rank: int, ranks: int, _size: int, _root: int) -> int:
    return int(rank != ranks - 1)


def _scan_doubling(rank: int, ranks: int, _size: int, _root: int) -> int:
    return sum(rank ^ step < ranks for step in _doublings(ranks))


_ALGORITHMS: dict[tuple[str, str], _Sends] = {
    ("ibcast", "linear"): _to_all,
    ("ibcast", "binomial"): _binomial,
    ("ibcast", "chain"): _chain,
    ("ibcast", "knomial"): _knomial,
    ("ireduce", "chain"): _reduce_chain,
    ("ireduce", "binomial"): _to_parent,
    ("ireduce", "rabenseifner"): _reduce_parts,
    ("iallreduce", "ring"): _ring,
    ("iallreduce", "binomial"): _allreduce_tree,
    ("iallreduce", "rabenseifner"): _allreduce_parts,
    ("iallreduce", "recursive_doubling"): _allreduce_doubling,
    ("iallgather", "linear"): _to_each,
    ("iallgather", "recursive_doubling"): _allgather_doubling,
    ("iscan", "linear"): _to_next,
    ("iscan", "recursive_doubling"): _scan_doubling,
    ("iexscan", "linear"): _to_next,
    ("iexscan", "recursive_doubling"): _scan_doubling,
}
