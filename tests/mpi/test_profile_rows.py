"""The profile of a program with rows and columns: the ranks of each communicator."""

from culmen.profile.communicators import groups_of
from culmen.profile.recorded import read_folder
from profiles import built, profiled


def test_a_profile_knows_the_ranks_of_rows_and_columns(mpi, tmp_path):
    done = profiled(tmp_path, built(mpi, tmp_path, "rows_program.c"), 4, "20")
    assert done.returncode == 0, done.stdout + done.stderr
    groups = {name: members for name, members in groups_of(read_folder(tmp_path / "out")).items() if name[0] != "self"}
    assert groups == {
        ("world", 0): (0, 1, 2, 3),
        ("world/cart 1", 0): (0, 1, 2, 3),
        **{("world/cart 1/cart_sub 1", first): (first, first + 1) for first in (0, 2)},
        **{(f"world/split 1 colour {k}", k): (k, k + 2) for k in (0, 1)},
    }
