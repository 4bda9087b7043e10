"""Collective functions with a root: who waits for whom, and what ranks without data contribute."""

import os
import re
import subprocess

import pytest
from culmen.profile.recorded import read_folder
from harness import Running, culmen
from profiles import AS_ROOT, built, profiled

pytestmark = pytest.mark.either("mpi")

MOUNT = 'mount -t tmpfs -o size=64k tmpfs "$1" && shift && exec "$@"'
COMMUNICATORS, HAVE_A_ROW, ROUNDS, LATE_S = 1200, 1022, 40, 0.005  # as in the programs and layout.h


def bytes_of(rank, function, communicator=""):
    return sum(each.bytes for each in rank.calls if each.function == function and communicator in each.communicator)


def test_ranks_without_data_large_types_and_many_communicators_are_counted(mpi, tmp_path):
    done = profiled(tmp_path, built(mpi, tmp_path, "roots_program.c"), 3)
    assert done.returncode == 0, done.stderr
    said = [int(word) for word in re.findall(r"alltoall (\d+)", done.stdout)]
    profile = read_folder(tmp_path / "out")
    assert [bytes_of(rank, "MPI_Alltoall") for rank in profile] == said
    for function, bytes_ in (("MPI_Gather", [0, 0, 8]), ("MPI_Scatter", [0, 0, 8]), ("MPI_Bcast", [12, 0, 12])):
        assert [bytes_of(rank, function, "inter") for rank in profile] == bytes_, function
    assert [bytes_of(rank, "MPI_Bcast", "self") for rank in profile] == [3 << 30] * 3
    further = [
        each for each in profile[0].calls if each.function == "MPI_Alltoall" and each.communicator.startswith("further")
    ]
    assert COMMUNICATORS - HAVE_A_ROW <= sum(each.calls for each in further) < COMMUNICATORS


def test_only_those_wait_that_need_the_data(mpi, tmp_path):
    words = ["2" if word == "RANKS" else word for word in built(mpi, tmp_path, "early_root_program.c")]
    done = culmen("profile", "--output", "out", "--imbalance", 1, "--", *words, cwd=tmp_path, **AS_ROOT)
    assert done.returncode == 0, done.stderr
    waited = {
        (each.function, rank.rank): each.waited_s
        for rank in read_folder(tmp_path / "out")
        for each in rank.calls
        if each.function in ("MPI_Bcast", "MPI_Reduce")
    }
    late_s = ROUNDS * LATE_S
    assert waited["MPI_Reduce", 0] > late_s / 2
    assert waited["MPI_Bcast", 0] < waited["MPI_Reduce", 0] / 2, "the early root needs nothing of the late rank"


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_variables_go_to_other_machines(mpi, tmp_path):
    words = built(mpi, tmp_path, "early_root_program.c")
    command = [words[0], "--host", "localhost:2", *words[1:]]
    done = profiled(tmp_path, command, 2)
    assert done.returncode == 0, done.stderr
    assert len(read_folder(tmp_path / "out")) == 2


def test_a_full_disk_is_said(mpi, tmp_path):
    full = tmp_path / "full"
    full.mkdir()
    prefix = ("unshare", "--mount", "sh", "-c", MOUNT, "sh", str(full))
    if subprocess.run([*prefix, "true"], capture_output=True).returncode != 0:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no private mount can be made here")
    words = ["2" if word == "RANKS" else word for word in built(mpi, tmp_path, "early_root_program.c")]
    with Running("profile", "--output", "full/out", "--", *words, cwd=tmp_path, prefix=prefix, **AS_ROOT) as run:
        code, _, err = run.end()
    assert code == 0, "the program's own"
    assert re.search(r"exit code 0; 2 ranks found no room for a profile in full/out: each rank needs \d\.\d MB;", err)
