"""`culmen tune app`: the benchmark calls the collectives on communicators like those of the program."""

import numpy as np
import pytest
from culmen.bench.splits import Split, groups_text, split_of
from culmen.launch.mpi import Launcher, load
from culmen.profile.communicators import groups_of
from culmen.profile.layout import KINDS
from culmen.profile.recorded import Calls, Rank, Timeline
from culmen.tune.app.cells import cells_of
from culmen.tune.app.surrogate import rows_of, tunable, tuning_of

from culmen import InputError

OPEN_MPI = next(mpi for mpi in load() if mpi.name == "openmpi")
KNOWN = OPEN_MPI.collectives
NEVER = Timeline(0.1, np.zeros((0, len(KINDS))))
GRID = {"rows": ((0, 1), (2, 3), (4, 5), (6, 7)), "columns": ((0, 2, 4, 6), (1, 3, 5, 7))}
TALL = {"rows": ((0, 1, 2, 3), (4, 5, 6, 7)), "columns": ((0, 2, 4, 6), (1, 3, 5, 7))}  # both have four ranks


def called(function, name, size, seconds, size_class=7):
    return Calls(function, "collective", name, size, size_class, -1, 10, 640, seconds, 1e-3, 1e-3, 0.0, 0)


def program(hosts, communicators, *calls, named="{name}/split 1 colour {k}"):
    """``hosts``: of the ranks. ``calls``: function, communicators, seconds of each rank, size class."""
    out = []
    for rank, host in enumerate(hosts):
        own = {
            name: (named.format(name=name, k=k), group)
            for name, groups in communicators.items()
            for k, group in enumerate(groups)
            if rank in group
        }
        own["world"] = ("world", tuple(range(len(hosts))))
        made = [called(each[0], own[each[1]][0], len(own[each[1]][1]), *each[2:]) for each in calls if each[1] in own]
        numbers = {name: group.index(rank) for name, group in own.values()}
        firsts = {name: group[0] for name, group in own.values()}
        words = (rank, len(hosts), host, "Open MPI v4.1.4", "app", 10.0, 0.1, 0, 0, 0, made, {}, NEVER)
        out.append(Rank(*words, numbers=numbers, firsts=firsts))
    return out


def parts_of(ranks):
    cells, said = tunable(cells_of(ranks, KNOWN, apart=True))
    wanted = tuning_of(Launcher("mpiexec", OPEN_MPI), cells, ranks, 0.1, (False, False))
    return {(part.collective, part.ranks): part for part in wanted.only}, said, wanted


def test_each_row_of_the_list_has_a_communicator_and_its_nodes():
    ranks = program("aabbccdd", GRID, ("MPI_Allreduce", "rows", 4.0), ("MPI_Bcast", "columns", 2.0, 11))
    assert rows_of(cells_of(ranks, KNOWN, apart=True)) == [
        ["allreduce", "rows/split 1 (4 of them)", "2", "1", "64", "40.0%"],
        ["bcast", "columns/split 1 (2 of them)", "4", "4 × 1 rank", "64", "20.0%"],
    ]


def test_communicators_have_the_same_ranks_as_in_the_program():
    calls = ("MPI_Allreduce", "rows", 4.0), ("MPI_Bcast", "columns", 2.0, 11)
    parts, said, wanted = parts_of(program("aabbccdd", GRID, *calls))
    assert parts["allreduce", 2].split == Split(8, "0-1;2-3;4-5;6-7", 1, 2, "2-per-node")
    assert parts["bcast", 4].split == Split(8, "0-6:2;1-7:2", 4, 1, "2-per-node")
    assert not said and wanted.most_ranks() == 8
    parts, _, _ = parts_of(program("aaaaaaaa", GRID, *calls))
    assert parts["bcast", 4].split == Split(8, "0-6:2;1-7:2", 1, 4)


def test_only_the_sizes_of_a_part_are_measured():
    calls = ("MPI_Allreduce", "rows", 4.0), ("MPI_Bcast", "columns", 2.0, 11)
    _, _, wanted = parts_of(program("aabbccdd", GRID, *calls))
    measured = {(point["collective"], point["ranks"], point["sizes"]) for point in wanted.points()}
    assert measured == {("allreduce", 2, "64,128"), ("bcast", 4, "1024,2048")}
    assert {(place.collective, place.size) for place in wanted.places()} == {
        *(("allreduce", size) for size in (64, 128)),
        *(("bcast", size) for size in (1024, 2048)),
    }
    assert "sizes" not in wanted.fixed()
    assert all(split_of(point["split"]) in wanted.splits() for point in wanted.points())


@pytest.mark.parametrize(
    ("hosts", "mappings"),
    [
        ("aabbccdd", {("allreduce", 2): "2-per-node", ("bcast", 4): "1-per-node"}),
        ("aaaabbbb", {("allreduce", 2): "2-per-node", ("bcast", 4): "2-per-node"}),
        ("aaaaabbb", {("allreduce", 2): "1-per-node", ("bcast", 4): ""}),  # a row is on both nodes
        ("aaaaaaaa", {("allreduce", 2): "", ("bcast", 4): ""}),
    ],
)
def test_rules_are_tried_on_as_many_nodes_as_the_communicators_have(hosts, mappings):
    rows = {**GRID, "rows": ((4, 5),)}
    calls = ("MPI_Allreduce", "rows", 4.0), ("MPI_Bcast", "columns", 2.0, 11)
    assert parts_of(program(hosts, rows, *calls))[2].mappings() == mappings


def test_ranks_that_alternate_between_nodes_keep_their_order():
    """Ranks 0, 2, 4 and 6 of the program are on node a. In culmen's launch, these are ranks 0 to 3."""
    parts, _, _ = parts_of(program("abababab", GRID, ("MPI_Bcast", "columns", 2.0), ("MPI_Allreduce", "world", 3.0)))
    assert parts["bcast", 4].split == Split(8, "0-3;4-7", 1, 4, "4-per-node")
    assert parts["allreduce", 8].split == Split(8, groups_text([(0, 4, 1, 5, 2, 6, 3, 7)]), 2, 4, "4-per-node")


def test_of_equal_numbers_of_ranks_the_nodes_with_more_time_are_tuned():
    calls = ("MPI_Bcast", "rows", 1.0), ("MPI_Bcast", "columns", 2.0), ("MPI_Bcast", "rows", 0.5, 11)
    parts, said, _ = parts_of(program("aaaabbbb", TALL, *calls))
    assert parts["bcast", 4].split == Split(8, "0-6:2;1-7:2", 2, 2, "4-per-node")
    assert parts["bcast", 4].sizes == (64, 128)
    assert said == [
        "culmen makes one choice for each number of ranks: bcast with 4 ranks is tuned for 2 nodes (at most 2 ranks on "
        "one), and not for 1 node (4 ranks)."
    ]


def test_all_ranks_of_one_node_need_no_split():
    parts, _, _ = parts_of(program("aaaa", {}, ("MPI_Allreduce", "world", 4.0)))
    assert parts["allreduce", 4].split is None


def test_one_communicator_calls_alone_if_the_others_do_not():
    ranks = program("aaaa", {"half": ((2, 3),)}, ("MPI_Allreduce", "half", 4.0))
    parts, _, _ = parts_of(ranks)
    assert parts["allreduce", 2].split == Split(4, "2-3", 1, 2)


def test_communicators_of_one_name_are_told_apart_by_their_first_rank():
    ranks = program("aaaa", {"rows": ((0, 1), (3, 2))}, ("MPI_Allreduce", "rows", 4.0), named="world/cart_sub 1")
    groups = groups_of(ranks)
    assert groups["world/cart_sub 1", 0] == (0, 1) and groups["world/cart_sub 1", 3] == (3, 2)
    parts, _, _ = parts_of(ranks)
    assert parts["allreduce", 2].split.groups == groups_text([(0, 1), (3, 2)])


def test_unknown_ranks_are_measured_as_a_launch_of_their_own():
    ranks = program("aabb", {"rows": ((0, 1), (2, 3))}, ("MPI_Allreduce", "rows", 4.0), named="same")
    for rank in ranks:
        rank.firsts.clear()
    assert rows_of(cells_of(ranks, KNOWN, apart=True))[0][3] == "not known"
    parts, _, _ = parts_of(ranks)
    assert parts["allreduce", 2].split is None


def test_many_communicators_of_one_shape_are_one_row():
    """A program can make a new communicator for each step."""
    steps = {f"step{k}": (tuple(range(4)),) for k in range(300)}
    calls = [("MPI_Allreduce", name, 0.02) for name in steps]
    (row,) = rows_of(cells_of(program("aaaa", steps, *calls, named="{name}/dup 1"), KNOWN, apart=True))
    assert row[1] == "step0/dup 1 and 299 more" and row[5] == "60.0%"


def test_uneven_nodes_are_launched_as_the_launcher_does_it():
    ranks = program("aaabb", {}, ("MPI_Allreduce", "world", 4.0))
    parts, _, _ = parts_of(ranks)
    assert parts["allreduce", 5].split == Split(5, "0-4", 2, 3, "")


def test_a_launch_on_other_nodes_is_a_mistake():
    split = Split(8, "0-6:2;1-7:2", 4, 1, "2-per-node")
    split.check((4, 1))
    said = "must have 4 nodes with up to 1 rank each, as in the program, but culmen's launch of 8 ranks gave it 1 node"
    with pytest.raises(InputError, match=said):
        split.check((1, 4))


def test_groups_are_written_as_runs():
    groups = [(0, 1, 2, 3), (4, 6, 8), (5,), (11, 10, 9), (12, 13, 20, 22)]
    assert groups_text(groups) == "0-3;4-8:2;5;11-9:-1;12-13,20-22:2"
    for split in (Split(8, "0-3;4-7", 1, 4), Split(8, "0-7", 4, 2, "2-per-node")):
        assert split_of(str(split)) == split
    assert split_of("") is None
