"""The time of a rank whose threads come and go: the share of MPI is of the time in which they exist."""

from pathlib import Path

import pytest
from culmen.profile.recorded import Rank, read_folder
from profiles import built, profiled

pytestmark = pytest.mark.either("mpi")

AT_A_TIME, OF_OPENMP = 4, 3


@pytest.fixture
def run(mpi, tmp_path):
    words = built(mpi, tmp_path, "short_threads_program.c", "-pthread")
    return lambda way: read(tmp_path, words, way)


def read(tmp_path: Path, words: list[str], way: str) -> tuple[str, list[tuple[Rank, float, float, float]]]:
    """The text that culmen prints. And each rank with the least and the greatest time of its other threads, and the
    time in which the first one does not wait for them."""
    done = profiled(tmp_path, words, 2, way)
    assert done.returncode == 0, done.stderr
    said = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("lives")]
    bounds = {int(rank): tuple(map(float, times)) for rank, *times in said}
    return done.stdout, [(rank, *bounds[rank.rank]) for rank in read_folder(tmp_path / "out")]


def test_without_other_threads_it_is_the_time_of_the_run(run):
    for rank, *_ in run("alone")[1]:
        assert rank.threads == 1
        assert rank.thread_s == pytest.approx(rank.seconds, rel=1e-3)


def test_threads_one_after_another_are_one_thread(run):
    said, ranks = run("one_by_one")
    assert "threads that call MPI" not in said
    for rank, *_ in ranks:
        assert rank.threads == 1
        assert rank.thread_s == pytest.approx(rank.seconds, rel=1e-3)


def test_a_thread_that_waits_for_the_end_of_another_one_has_no_time(run):
    for rank, _, _, both in run("one_by_one_with_main")[1]:
        assert rank.threads == 2
        # On a busy machine, a few of the hundred waits begin late. If no wait were left out, it would be twice as much.
        assert rank.seconds * 0.999 <= rank.thread_s <= rank.seconds * 1.2 + both


def test_threads_of_a_pool_have_the_time_of_each(run):
    for rank, least, most, _ in run("pool")[1]:
        assert rank.threads == AT_A_TIME + 1
        assert least <= rank.thread_s <= most + rank.seconds
        assert rank.in_mpi <= rank.thread_s


def test_threads_that_are_soon_gone_do_not_make_the_share_of_the_rest_smaller(run):
    for rank, least, most, _ in run("late")[1]:
        assert rank.threads == AT_A_TIME + 1
        assert max(rank.seconds, least) <= rank.thread_s <= most + rank.seconds
        assert rank.thread_s < 0.4 * rank.threads * rank.seconds


def test_threads_of_openmp_exist_until_the_end(mpi, tmp_path):
    words = built(mpi, tmp_path, "openmp_threads_program.c", "-fopenmp")
    for rank, least, most, _ in read(tmp_path, words, "")[1]:
        end = rank.seconds * (OF_OPENMP - 1) - most  # from the program's last look at its clock
        assert rank.threads == OF_OPENMP
        assert rank.seconds + least <= rank.thread_s * 1.001
        assert rank.thread_s <= (rank.seconds + most + end) * 1.001
