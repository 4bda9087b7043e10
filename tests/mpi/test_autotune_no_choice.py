"""``culmen autotune`` says for which collectives of a program the MPI has no choice."""

import pytest
from culmen.tune.autotune.tuned import read_tuning
from profiles import built
from test_autotune import tuned

SAID = "In this MPI, culmen cannot choose the algorithm of "


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_collectives_without_a_choice_are_the_reason_under_open_mpi(mpi, tmp_path):
    words = [*built(mpi, tmp_path, "no_choice_program.c"), "200"]
    done = tuned(tmp_path, words, 2, "--output", "none.tuning")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert f"{SAID}MPI_Gatherv and MPI_Ireduce_scatter_block." in said, said
    assert "Nothing was tuned: the program made too few calls of the other collectives with similar sizes" in said
    assert read_tuning(tmp_path / "none.tuning").choices == []
    loaded = tuned(tmp_path, words, 2, "--load", "none.tuning")
    assert loaded.returncode == 0 and "culmen:" not in loaded.stderr, loaded.stderr


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_persistent_collectives_have_no_choice_under_mpich(mpi, tmp_path):
    words = [*built(mpi, tmp_path, "no_choice_program.c"), "200"]
    done = tuned(tmp_path, words, 2, "--output", "some.tuning")
    assert done.returncode == 0, done.stderr
    assert f"{SAID}MPI_Allreduce_init." in " ".join(done.stdout.split()), done.stdout
    assert {choice.collective for choice in read_tuning(tmp_path / "some.tuning").choices} >= {"gatherv"}


def test_collectives_that_the_options_leave_out_are_not_named(mpi, tmp_path):
    words = [*built(mpi, tmp_path, "no_choice_program.c"), "9"]
    done = tuned(tmp_path, words, 2, "--collectives", "bcast")
    assert done.returncode == 0 and SAID not in " ".join(done.stdout.split()), done.stdout
    assert "too few calls of the same collective with similar sizes" in " ".join(done.stdout.split())
