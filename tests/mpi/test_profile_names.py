"""Names of communicators in which only some ranks take part: each has one name on all its ranks."""

import re

import pytest
from culmen.profile.recorded import read_folder
from harness import HANGS_S, culmen
from profiles import AS_ROOT, built, profiled

pytestmark = pytest.mark.either("mpi")

# The ranks of the program in the order of the communicator.
EXPECTED = {
    "world/create_group 1 ranks 0-1": [0, 1],
    "world/create_group 1 ranks 1-2": [1, 2],
    "world/create_group 1 ranks 2,1": [2, 1],
    "world/create_group 2 ranks 1-2": [1, 2],
    "world/create_group 1 tag 7 ranks 1-2": [1, 2],
    "world/create_group 1 ranks 0-2": [0, 1, 2],
    "inter 1 ranks 0|1-2/merge 1": [1, 2, 0],
}


def test_a_communicator_has_one_name_on_all_its_ranks(mpi, tmp_path):
    done = profiled(tmp_path, built(mpi, tmp_path, "groups_program.c"), 3)
    assert done.returncode == 0, done.stderr
    profile = read_folder(tmp_path / "out")
    names = {name for rank in profile for name in rank.numbers}
    found = {name: [(rank.numbers[name], rank.rank) for rank in profile if name in rank.numbers] for name in names}
    made = {name: [rank for _, rank in sorted(there)] for name, there in found.items() if name in EXPECTED}
    assert made == EXPECTED
    copies = {f"{name}/dup 1": ranks for name, ranks in EXPECTED.items() if "create_group" in name}
    assert {name: [rank for _, rank in sorted(found[name])] for name in names if "/dup" in name} == copies
    rows = {calls.communicators for rank in profile for calls in rank.calls if calls.function == "MPI_Barrier"}
    assert rows == {
        "world/create_group 1/dup 1",
        "world/create_group 2/dup 1",
        "world/create_group 1 tag 7/dup 1",
        "inter 1/merge 1",
    }


def test_the_tuner_uses_the_same_names(mpi, tmp_path):
    words = ["3" if word == "RANKS" else word for word in built(mpi, tmp_path, "groups_program.c")]
    command = ("--output", "out.tuning", "--collectives", "allreduce", "--", *words)
    done = culmen("autotune", *command, cwd=tmp_path, timeout=HANGS_S, **AS_ROOT)
    assert done.returncode == 0, done.stderr
    names = re.findall(r"^communicator\t(.*?)\t\d+\t", (tmp_path / "out.tuning").read_text(), re.MULTILINE)
    assert sorted(names) == sorted(EXPECTED)
