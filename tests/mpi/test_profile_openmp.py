"""Programs that also use OpenMP."""

import re

import pytest
from culmen.profile.recorded import read_folder
from profiles import built, profiled

pytestmark = pytest.mark.either("mpi")


def test_regions_and_the_work_in_them_are_what_the_program_knows(mpi, tmp_path):
    words = built(mpi, tmp_path, "openmp_program.c", "-fopenmp")
    done = profiled(tmp_path, words, 2)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(f"sum {8 * 499_500}, parts 8") == 2, "the results are those without culmen"
    said = re.findall(r"share (\d) (\S+) (\S+)", done.stdout)
    shares = {int(rank): (float(least), float(most)) for rank, least, most in said}
    for rank in read_folder(tmp_path / "out"):
        assert rank.regions == 12
        assert 0.3 <= rank.region_s <= rank.seconds
        least, most = shares[rank.rank]
        assert least * 0.999 <= rank.region_work <= most * 1.001, "one of two threads works; others may use the CPUs"
    assert "OpenMP regions take" in " ".join(done.stdout.split())
