"""The time of a wait counts for the function that started the request."""

from collections import Counter

import pytest
from culmen.profile.recorded import Rank, read_folder
from profiles import built, profiled

pytestmark = pytest.mark.either("mpi")

WAYS = ["Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome"]
EACH, ROUNDS, MANY = 6, 500, 40_000  # as in waits_program.c
TICK_S = 1e-9  # at most


@pytest.fixture
def waits(mpi, tmp_path) -> list[str]:
    return built(mpi, tmp_path, "waits_program.c", "-pthread")


def profile_of(tmp_path, words, ranks, *more) -> list[Rank]:
    done = profiled(tmp_path, words, ranks, *more)
    assert done.returncode == 0, done.stderr
    profile = read_folder(tmp_path / "out")
    for rank in profile:
        assert sum(each.charged_s for each in rank.calls) == pytest.approx(0, abs=1e-12)
    return profile


def is_wait(function: str) -> bool:
    return function.startswith(("MPI_Wait", "MPI_Test"))


def completed(rank: Rank) -> Counter:
    """By function and bytes of a call."""
    out = Counter()
    for each in rank.calls:
        out[each.function, 2**each.size_class // 2] += each.completed
    return +out


@pytest.mark.parametrize("ranks", [2, 3])
def test_every_wait_is_charged_to_what_it_completes(waits, tmp_path, ranks):
    for rank in profile_of(tmp_path, waits, ranks):
        expected = {(f"MPI_I{kind}", 2**k): EACH // 2 for k in range(len(WAYS)) for kind in ("send", "recv")}
        expected |= {("MPI_Ibcast", 8): 1, ("MPI_Iallreduce", 4): 1, ("MPI_Ibarrier", 0): 1, ("MPI_Irecv", 512): 1}
        assert completed(rank) == expected
        assert rank.uncharged == 0
        assert {each.function for each in rank.calls if is_wait(each.function)} == {f"MPI_{way}" for way in WAYS}


def test_a_wait_keeps_no_time_of_requests(waits, tmp_path):
    for rank in profile_of(tmp_path, waits, 2):
        calls = {each.function: each for each in rank.calls}
        for way in ("Waitall", "Waitsome", "Testall"):  # each has requests that were not complete from the start
            assert calls[f"MPI_{way}"].charged_s <= 0
        received = [each for each in rank.calls if each.function == "MPI_Irecv" and each.size_class == 2]
        assert [(each.peer, each.completed) for each in received] == [(1 - rank.rank, EACH // 2)]
        assert received[0].charged_s > 0
        waitall = calls["MPI_Waitall"]
        assert 0 <= waitall.seconds + waitall.charged_s <= 2 * EACH * waitall.calls * TICK_S


def test_threads_wait_at_a_time(waits, tmp_path):
    for rank in profile_of(tmp_path, waits, 2, "threads"):
        n = 2 * ROUNDS * EACH // 2
        assert completed(rank) == {("MPI_Irecv", 1024): n, ("MPI_Isend", 1024): n}
        assert rank.uncharged == 0
        assert rank.threads in (2, 3)  # with the first one; the second may be gone before the third begins
        assert 0 < rank.in_mpi <= rank.thread_s


def test_more_requests_than_there_is_room_for_are_said(waits, tmp_path):
    profile = profile_of(tmp_path, waits, 1, "many")
    found = completed(profile[0])
    assert found["MPI_Irecv", 1] + profile[0].uncharged == MANY
    assert found["MPI_Irecv", 1] > MANY // 2
    assert profile[0].uncharged > 0
