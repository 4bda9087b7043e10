"""``culmen autotune`` with programs that use MPI in less usual ways, under both MPIs."""

import re

import pytest
from culmen.launch.mpi import find_launcher
from culmen.tune.autotune.tuned import read_tuning
from profiles import built
from test_autotune import tuned

pytestmark = pytest.mark.either("mpi")
COMMUNICATORS, CALLS = 300, 6
_MOST_GROWTH_BYTES = 1000  # for each communicator that was freed: what it leaves behind for the tuning file


@pytest.mark.parametrize("binding", ["-DWITH_MPI", "-DWITH_MPIF", "-DWITH_F08"])
def test_calls_from_fortran_are_tuned(mpi, tmp_path, binding):
    words = built(mpi, tmp_path, "broadcasts_program.F90", binding)
    done = tuned(tmp_path, words, 2, "--output", "fortran.tuning")
    assert done.returncode == 0, done.stdout + done.stderr
    (choice,) = read_tuning(tmp_path / "fortran.tuning").choices
    assert (choice.collective, choice.size, choice.calls) == ("bcast", 256, 50)


@pytest.mark.parametrize("ranks", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_zero_counts_in_place_gaps_and_large_counts_stay_right(mpi, tmp_path, ranks):
    words = [*built(mpi, tmp_path, "special_program.c"), "60"]
    done = tuned(tmp_path, words, ranks, "--output", "special.tuning")
    assert done.returncode == 0 and "0 wrong" in done.stdout, done.stdout + done.stderr
    sizes = {choice.size for choice in read_tuning(tmp_path / "special.tuning").choices}
    assert 0 in sizes and max(sizes) >= 1024


@pytest.mark.parametrize("calls", ["blocking", "nonblocking"])
@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow)])
def test_types_operators_roots_and_counts_of_each_rank_stay_right(mpi, tmp_path, ranks, calls):
    words = [*built(mpi, tmp_path, "conformance_program.c"), "40" if ranks == 2 else "12", calls]
    done = tuned(tmp_path, words, ranks, "--output", "conformance.tuning")
    assert done.returncode == 0 and "0 wrong" in done.stdout, done.stdout + done.stderr
    found = {choice.collective for choice in read_tuning(tmp_path / "conformance.tuning").choices}
    prefix = "i" if calls == "nonblocking" else ""
    assert {f"{prefix}{name}" for name in ("bcast", "allreduce", "reduce")} <= found


def test_the_choice_is_made_within_three_calls_for_each_algorithm(mpi, tmp_path):
    known = find_launcher(mpi).mpi.collectives
    algorithms = 1 + sum(each.name != "default" for each in known.safe_algorithms("bcast", 2, False, True))
    words = [*built(mpi, tmp_path, "broadcasts_program.c"), "1000", str(3 * algorithms)]
    done = tuned(tmp_path, words, 2, "--output", "soon.tuning")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [choice.collective for choice in read_tuning(tmp_path / "soon.tuning").choices] == ["bcast"]


def test_communicators_that_are_freed_give_their_memory_back(mpi, tmp_path):
    """While algorithms are tried on them: each has shadows and a comparison."""
    words = [*built(mpi, tmp_path, "loop_program.c"), str(COMMUNICATORS), str(CALLS)]
    done = tuned(tmp_path, words, 2, "--output", "loop.tuning")
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"heap (-?\d+)", done.stdout)
    assert found and int(found[1]) < COMMUNICATORS / 2 * _MOST_GROWTH_BYTES, done.stdout
    assert read_tuning(tmp_path / "loop.tuning").left_out == 0  # the limit is for those that live


@pytest.mark.parametrize("way", ["abort", "signal", "exit"])
def test_a_program_that_ends_while_algorithms_are_tried_ends_as_usual(mpi, tmp_path, way):
    words = [*built(mpi, tmp_path, "ending_program.c"), "9", way]
    done = tuned(tmp_path, words, 2, "--output", "none.tuning")
    assert done.returncode != 0
    assert "Traceback" not in done.stderr and not list(tmp_path.glob("none.tuning*")), done.stderr
