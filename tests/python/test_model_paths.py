"""The analytic models: the published formulas, a simulation of the messages, and the names of the MPIs."""

import math

import numpy as np
import pytest
from culmen.launch.mpi import load
from culmen.launch.mpi.collectives import DEFAULT
from culmen.model import paths
from culmen.model.algorithms import WITHOUT_MODEL, model_of
from culmen.model.point_to_point import hockney, loggp, network

MPIS = [mpi for mpi in load() if mpi.collectives is not None]
M = 4096.0


@pytest.mark.parametrize("ranks", [2, 4, 16, 64])
@pytest.mark.parametrize(
    ("model", "count", "size", "reduced"),
    [
        (paths.linear, lambda p, lg: p - 1, lambda p, lg: p - 1, 0),
        (paths.pipeline, lambda p, lg: p - 1, lambda p, lg: p - 1, 0),
        (paths.binomial, lambda p, lg: lg, lambda p, lg: lg, 0),
        (paths.scatter_allgather, lambda p, lg: 2 * lg, lambda p, lg: 2 * (p - 1) / p, 0),
        (paths.scatter_ring, lambda p, lg: lg + p - 1, lambda p, lg: 2 * (p - 1) / p, 0),
        (paths.recursive_doubling, lambda p, lg: lg, lambda p, lg: lg, lambda p, lg: lg),
        (paths.ring_reduction, lambda p, lg: 2 * (p - 1), lambda p, lg: 2 * (p - 1) / p, lambda p, lg: (p - 1) / p),
        (paths.rabenseifner, lambda p, lg: 2 * lg, lambda p, lg: 2 * (p - 1) / p, lambda p, lg: (p - 1) / p),
        (paths.recursive_halving, lambda p, lg: lg, lambda p, lg: p - 1, lambda p, lg: p - 1),
        (paths.doubling_blocks, lambda p, lg: lg, lambda p, lg: p * lg - p + 1, lambda p, lg: p * lg - p + 1),
        (paths.pairwise_reduction, lambda p, lg: p - 1, lambda p, lg: p - 1, lambda p, lg: p - 1),
        (paths.doubling_allgather, lambda p, lg: lg, lambda p, lg: p - 1, 0),
        (paths.ring, lambda p, lg: p - 1, lambda p, lg: p - 1, 0),
        (paths.neighbours, lambda p, lg: p / 2, lambda p, lg: p - 1, 0),
        (paths.bruck, lambda p, lg: lg, lambda p, lg: p * lg / 2, 0),
    ],
)
def test_paths_have_the_published_costs(model, count, size, reduced, ranks):
    lg = math.log2(ranks)
    path = model(ranks, M)
    assert path.count == pytest.approx(count(ranks, lg))
    assert path.size == pytest.approx(M * size(ranks, lg))
    assert path.reduced == pytest.approx(M * reduced(ranks, lg) if reduced else 0)


@pytest.mark.parametrize(("ranks", "segments"), [(3, 1), (8, 4), (48, 10)])
def test_segmented_trees_have_the_published_costs(ranks, segments):
    part = M / segments
    assert paths.pipeline(ranks, M, part).count == ranks + segments - 2
    assert paths.binary(ranks, M, part).count == 2 * (math.ceil(math.log2(ranks + 1)) + segments - 2)
    assert paths.pipeline(ranks, M, part).messages[0].size == part


def simulated(ranks, children, segments=1):
    """When the last rank has all segments, if each rank sends one message at a time, each taking 1."""
    ready = {0: [0.0] * segments}
    last = 0.0
    for rank in range(ranks):  # children come after their parents
        free = 0.0
        for segment in range(segments):
            for child in children(rank, ranks):
                free = max(free, ready[rank][segment]) + 1
                ready.setdefault(child, []).append(free)
                last = max(last, free)
    assert len(ready) == ranks
    return last


def binomial_children(rank, ranks):
    low = rank.bit_length()  # rank k gets the message in round bit_length(k)
    return [rank + 2**k for k in range(low, 20) if rank + 2**k < ranks]


@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 13, 48])
def test_paths_agree_with_a_simulation_of_the_messages(ranks):
    assert paths.linear(ranks, M).count == simulated(ranks, lambda r, n: range(1, n) if r == 0 else ())
    assert paths.binomial(ranks, M).count == simulated(ranks, binomial_children)
    for segments in (1, 2, 7):
        chain = simulated(ranks, lambda r, n: (r + 1,) if r + 1 < n else (), segments)
        assert paths.pipeline(ranks, M, M / segments).count == chain
    four = simulated(ranks, lambda r, n: range(1, min(5, n)) if r == 0 else (r + 4,) if r + 4 < n else (), 3)
    assert paths.chain(ranks, M, M / 3, chains=4).count == pytest.approx(four, abs=3)  # the last chain may be shorter


@pytest.mark.parametrize("ranks", [2, 3, 6, 7, 31, 48])
def test_all_numbers_of_ranks_have_costs(ranks):
    for mpi in MPIS:
        for collective in mpi.collectives.names:
            for one in mpi.collectives.algorithms(collective, ranks):
                model = model_of(collective, one.name)
                if model is None:
                    continue
                for size in (0.0, 1.0, M):
                    path = model(ranks, size)
                    assert path.count >= 1
                    assert all(each.steps >= 0 and each.size >= 0 for each in path.messages)
                    assert path.reduced >= 0


def test_a_broadcast_carries_the_whole_message_to_the_last_rank():
    for ranks in (2, 3, 7, 48):
        for model in (paths.scatter_allgather, paths.scatter_ring, paths.binomial, paths.k_nomial, paths.split_binary):
            assert model(ranks, M).size >= M - 1e-6


def test_each_algorithm_of_each_mpi_has_a_model_or_a_reason():
    assert {mpi.title for mpi in MPIS} >= {"Open MPI 4", "MPICH 4"}
    for mpi in MPIS:
        for collective in mpi.collectives.names:
            for one in mpi.collectives.algorithms(collective):
                known = model_of(collective, one.name) is not None
                assert known != (one.name in WITHOUT_MODEL), (collective, one.name)
    assert DEFAULT in WITHOUT_MODEL


SIZES = np.array([1, *(2**k for k in range(1, 23))], float)


def test_hockney_and_loggp_give_back_their_coefficients():
    alpha, beta = 1.2e-6, 1e-10
    inside = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        noise = 1 + 0.03 * rng.standard_normal(len(SIZES))
        noise[rng.random(len(SIZES)) < 0.05] *= 4
        line = hockney(SIZES, (alpha + beta * SIZES) * noise)
        inside += [line.alpha.contains(alpha), line.beta.contains(beta)]
        other = loggp(SIZES, (alpha + beta * (SIZES - 1)) * noise)
        inside += [other.latency.contains(alpha), other.gap.contains(beta)]
        assert other.at(1) == pytest.approx(line.at(1), rel=1e-3)
    assert np.mean(inside) > 0.84  # as many as 60 independent trials: 0.95 ± 4 × 0.028


def test_a_network_knows_its_messages_and_the_cost_of_a_sum():
    sends = {int(m): 1e-6 + 1e-10 * m for m in SIZES}
    found = network(sends, {m: t + 3e-10 * m for m, t in sends.items()})
    assert found.reduce_s == pytest.approx(3e-10)
    assert found.send(1000) == pytest.approx(1.1e-6)
    assert found.send(2**23) == pytest.approx(1e-6 + 1e-10 * 2**23)
    assert network(sends, {}).reduce_s == 0
    assert network(sends, {m: t / 2 for m, t in sends.items()}).reduce_s == 0
    path = paths.binomial(8, 1000, reduced=True)
    assert path.time(found.send, found.reduce_s) == pytest.approx(3 * 1.1e-6 + 3 * 3e-10 * 1000)
