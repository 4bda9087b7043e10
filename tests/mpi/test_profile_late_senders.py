"""Requests that wait for late senders, by the times at both ends of a message."""

import re

import pytest
from culmen.profile.recorded import Calls, read_folder
from culmen.profile.waits import waits_of
from culmen.profile.worlds import worlds_of
from harness import HANGS_S, culmen
from profiles import AS_ROOT, built

pytestmark = pytest.mark.either("mpi")

ROUNDS, WAYS, EARLY, TWO, TESTS, PREPARED, EXCHANGE = 20, 8, 6, 1, 4, 5, 7  # as in late_sender_program.c


@pytest.mark.parametrize("period", [1, 4])
def test_requests_that_wait_for_a_late_sender_are_told_from_slow_ones(mpi, tmp_path, period):
    words = ["2" if word == "RANKS" else word for word in built(mpi, tmp_path, "late_sender_program.c")]
    command = ("--output", "out", "--imbalance", period, "--", *words, period)
    done = culmen("profile", *command, cwd=tmp_path, timeout=HANGS_S, **AS_ROOT)
    assert done.returncode == 0, done.stderr
    late_s = [float(word) for word in re.search(r"late (.*)", done.stdout)[1].split()]
    _, receiver = worlds_of(read_folder(tmp_path / "out")).ranks
    for way in range(WAYS):
        found = of_way(receiver.calls, way)
        assert found.sampled == (2 if way == TWO else 1) * ROUNDS // period
        assert 0 <= found.waited_s <= found.sampled_s * (1 + 1e-9) <= found.total_s * (1 + 1e-6)
        if way == EARLY:
            assert found.waited_s < 1e-5 * found.sampled  # clocks of two processes, read at both ends of the run
        elif way != TESTS:  # on a busy machine, the program may spend this time between two tests, not in MPI
            assert found.waited_s >= late_s[way] / 2
    assert sum(late_s[:EARLY]) > 0
    # On a busy machine, functions whose few samples were fast are not named.
    assert re.search(r"In MPI_[^.]*, ranks wait for late ranks for about", " ".join(done.stdout.split()))


def of_way(calls: list[Calls], way: int) -> Calls:
    name = {PREPARED: "MPI_Recv_init started", EXCHANGE: "MPI_Sendrecv"}.get(way, "MPI_Irecv")
    [found] = [each for each in calls if each.function == name and each.size_class == 2 * way + 1]
    return found


def test_messages_of_any_source_are_left_out(mpi, tmp_path):
    """imbalance_program.c has one MPI_Irecv, after receives of any tag."""
    words = ["2" if word == "RANKS" else word for word in built(mpi, tmp_path, "imbalance_program.c")]
    done = culmen("profile", "--output", "out", "--imbalance", 1, "--", *words, 1, cwd=tmp_path, **AS_ROOT)
    assert done.returncode == 0, done.stderr
    ranks = worlds_of(read_folder(tmp_path / "out")).ranks
    assert not any(each.sampled for rank in ranks for each in rank.calls if each.function == "MPI_Irecv")


# As in late_collective_program.c.
COLLECTIVES = ("MPI_Iallreduce", "MPI_Ibcast", "MPI_Ireduce", "MPI_Ibarrier", "MPI_Iscan", "MPI_Allreduce_init started")


@pytest.mark.parametrize(("ranks", "period"), [(2, 1), (3, 4)])
def test_nonblocking_collectives_that_wait_for_a_late_rank(mpi, tmp_path, ranks, period):
    words = [str(ranks) if word == "RANKS" else word for word in built(mpi, tmp_path, "late_collective_program.c")]
    command = ("--output", "out", "--imbalance", period, "--", *words, period)
    done = culmen("profile", *command, cwd=tmp_path, timeout=HANGS_S, **AS_ROOT)
    assert done.returncode == 0, done.stderr
    late_s = [float(word) for word in re.search(r"late (.*)", done.stdout)[1].split()]
    late, waiting, *_ = world = worlds_of(read_folder(tmp_path / "out")).ranks
    for function, least_s in zip(COLLECTIVES, late_s, strict=True):
        found = next((each for each in waiting.calls if each.function == function), None)
        if found is None and function.endswith("started"):
            continue  # an MPI without persistent collectives
        assert found.sampled <= ROUNDS // period  # without those that were complete at once
        assert least_s / 2 <= found.waited_s <= found.sampled_s * (1 + 1e-9) <= found.total_s * (1 + 1e-6)
        own = next(each for each in late.calls if each.function == function)
        if function in ("MPI_Ibcast", "MPI_Iscan", "MPI_Ireduce"):
            assert own.waited_s < 1e-5 * max(1, own.sampled), "the late rank needs nothing of the others"
    assert sum(late_s) > 0
    assert waits_of(world).seconds[waiting.rank, late.rank] > 0
