"""Programs that also use OpenMP."""

import pytest
from culmen.profile.recorded import read_folder
from profiles import built, profiled

pytestmark = pytest.mark.either("mpi")


def test_regions_and_the_work_in_them_are_what_the_program_knows(mpi, tmp_path):
    words = built(mpi, tmp_path, "openmp_program.c", "-fopenmp")
    done = profiled(tmp_path, words, 2)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(f"sum {8 * 499_500}, parts 8") == 2, "the results are those without culmen"
    for rank in read_folder(tmp_path / "out"):
        assert rank.regions == 12
        assert 0.3 <= rank.region_s <= rank.seconds
        # One of two threads works. A thread that waits for a CPU waits, too.
        assert 0.1 < rank.region_work < 0.6
    assert "OpenMP regions take" in " ".join(done.stdout.split())
