"""Which analytic model belongs to which algorithm of an MPI, by the names in the MPI's data file.

The chosen algorithms do not divide messages into segments: no MPI does, unless a further variable says so. Only
MPICH's "pipelined_tree" does. Open MPI then has four chains, and trees of radix four. MPICH 5 has radix two for the
algorithms that begin with "k_", for "recexch", "tree" and "recursive_multiplying".
"""

from collections.abc import Callable
from functools import partial

from . import paths
from .paths import Path, empty, rounds

Model = Callable[[int, float], Path]


def _up(model: Callable[..., Path]) -> Model:
    return partial(model, reduced=True)


def _barrier(count: Callable[[int], float]) -> Model:
    return lambda ranks, _size: empty(count(ranks))


def _pair(first: Callable[..., Path], second: Callable[..., Path]) -> Model:
    """A reduction to the root, then a broadcast."""
    return lambda ranks, size: first(ranks, size, reduced=True) + second(ranks, size)


def _gather_and_broadcast(ranks: int, size: float) -> Path:
    return paths.linear(ranks, size) + paths.binomial(ranks, ranks * size)


def _reduce_and_scatter(ranks: int, size: float) -> Path:
    return paths.reduce_then(ranks, ranks * size, paths.linear(ranks, size))


_GATHER: dict[str, Model] = {
    "basic_linear": paths.linear,
    "linear": paths.linear,
    "linear_nb": paths.linear,
    "linear_sync": paths.synchronised,
    "binomial": paths.tree_of_blocks,
}
_ALLGATHER: dict[str, Model] = {
    "linear": _gather_and_broadcast,
    "gather_bcast": _gather_and_broadcast,
    "bruck": paths.doubling_allgather,
    "brucks": paths.doubling_allgather,
    "k_brucks": paths.doubling_allgather,
    "recexch_doubling": paths.doubling_allgather,
    "recexch_halving": paths.doubling_allgather,
    "sparbit": paths.doubling_allgather,
    "recursive_doubling": paths.doubling_allgather,
    "ring": paths.ring,
    "neighbor": paths.neighbours,
    "two_proc": paths.one_exchange,
}
_ALLTOALL: dict[str, Model] = {
    "linear": paths.pairwise,
    "basic_linear": paths.pairwise,
    "pairwise": paths.pairwise,
    "pairwise_sendrecv_replace": paths.pairwise,
    "scattered": paths.pairwise,
    "modified_bruck": paths.bruck,
    "brucks": paths.bruck,
    "k_brucks": paths.bruck,
    "linear_sync": paths.pairwise,  # only the number of open requests is limited
    "two_proc": paths.one_exchange,
}
_REDUCE_SCATTER: dict[str, Model] = {
    "non-overlapping": _reduce_and_scatter,
    "basic_linear": _reduce_and_scatter,
    "recursive_halving": paths.recursive_halving,
    "noncommutative": paths.recursive_halving,
    "butterfly": paths.recursive_halving,
    "recursive_doubling": paths.doubling_blocks,
    "ring": paths.pairwise_reduction,
    "pairwise": paths.pairwise_reduction,
}
_SCAN: dict[str, Model] = {"linear": _up(paths.linear), "recursive_doubling": paths.prefix_doubling}

MODELS: dict[str, dict[str, Model]] = {
    "barrier": {
        "linear": _barrier(lambda ranks: 2 * (ranks - 1)),
        "double_ring": _barrier(lambda ranks: 2 * ranks),
        "recursive_doubling": _barrier(lambda ranks: rounds(ranks) + (1 if ranks & (ranks - 1) else 0)),
        "bruck": _barrier(rounds),
        "dissemination": _barrier(rounds),
        "k_dissemination": _barrier(rounds),
        "recexch": _barrier(lambda ranks: rounds(ranks) + (1 if ranks & (ranks - 1) else 0)),
        "two_proc": _barrier(lambda _ranks: 1),
        "tree": _barrier(lambda ranks: 2 * rounds(ranks)),
    },
    "bcast": {
        "basic_linear": paths.linear,
        "chain": partial(paths.chain, chains=4),
        "pipeline": paths.pipeline,
        "split_binary_tree": paths.split_binary,
        "binary_tree": paths.binary,
        "binomial": paths.binomial,
        "knomial": paths.k_nomial,
        "scatter_allgather": paths.scatter_allgather,
        "scatter_allgather_ring": paths.scatter_ring,
        "tree": paths.binary,
        "pipelined_tree": partial(paths.binary, segment=8192),
        "scatter_recursive_doubling_allgather": paths.scatter_allgather,
        "scatter_ring_allgather": paths.scatter_ring,
    },
    "reduce": {
        "linear": _up(paths.linear),
        "chain": partial(paths.chain, chains=4, reduced=True),
        "pipeline": _up(paths.pipeline),
        "binary": _up(paths.binary),
        "in-order_binary": _up(paths.binary),
        "binomial": _up(paths.binomial),
        "rabenseifner": partial(paths.rabenseifner, back=False),
        "reduce_scatter_gather": partial(paths.rabenseifner, back=False),
    },
    "allreduce": {
        "basic_linear": _pair(paths.linear, paths.linear),
        "nonoverlapping": _pair(paths.binomial, paths.binomial),
        "recursive_doubling": paths.recursive_doubling,
        "ring": paths.ring_reduction,
        "segmented_ring": paths.ring_reduction,
        "rabenseifner": paths.rabenseifner,
        "reduce_scatter_allgather": paths.rabenseifner,
        "k_reduce_scatter_allgather": paths.rabenseifner,
        "recursive_multiplying": paths.recursive_doubling,
        "recexch": paths.recursive_doubling,
        "tree": _pair(paths.binary, paths.binary),
    },
    "gather": _GATHER,
    "gatherv": _GATHER,
    "scatter": _GATHER,
    "scatterv": _GATHER,
    "allgather": _ALLGATHER,
    "allgatherv": _ALLGATHER,
    "alltoall": _ALLTOALL,
    "alltoallv": _ALLTOALL,
    "reduce_scatter": _REDUCE_SCATTER,
    "reduce_scatter_block": _REDUCE_SCATTER,
    "scan": _SCAN,
    "exscan": _SCAN,
}

WITHOUT_MODEL = {
    "nb": "it runs the nonblocking collective, which chooses an algorithm itself",
    "smp": "it divides the ranks by node, and chooses an algorithm for each part",
    "default": "the MPI chooses the algorithm",
}


def runs_with(collective: str, algorithm: str, ranks: int) -> bool:
    """Whether the MPIs run this algorithm with this number of ranks, and do not replace it by another one."""
    if algorithm == "two_proc":
        return ranks == 2
    if algorithm == "neighbor":
        return ranks % 2 == 0
    needs_power = {"recursive_doubling"} if collective.startswith("allgather") else {"noncommutative"}
    return algorithm not in needs_power or ranks & (ranks - 1) == 0


def model_of(collective: str, algorithm: str) -> Model | None:
    """None: there is no model, for the reason in WITHOUT_MODEL, or culmen does not know the algorithm."""
    return MODELS.get(collective, {}).get(algorithm)
