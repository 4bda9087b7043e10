"""Numbers of nodes and of ranks per node."""

import pytest
from culmen._core import InputError
from culmen.bench import layouts
from culmen.bench.conversation import LostError
from culmen.bench.layouts import Layout, layouts_of, one_for_each_number
from culmen.launch.mpi import Launcher, load
from culmen.tune.rules import tried

OPEN_MPI = next(mpi for mpi in load() if mpi.title == "Open MPI 4")
OPEN_MPI_5 = next(mpi for mpi in load() if mpi.title == "Open MPI 5")
MPICH = next(mpi for mpi in load() if mpi.title == "MPICH 4")


@pytest.fixture
def job(monkeypatch):
    """Three nodes with four tasks and one with two."""
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "4(x3),2")


def test_each_number_of_nodes_has_each_number_of_ranks():
    found = layouts_of("2,4", "1,4,8", 0)
    assert [(each.nodes, each.per_node, each.ranks) for each in found] == [
        (2, 1, 2), (2, 4, 8), (2, 8, 16), (4, 1, 4), (4, 4, 16), (4, 8, 32)
    ]  # fmt: skip
    assert found[1].mapping == "4-per-node"
    assert layouts.per_node_of("4-per-node") == 4
    assert layouts.per_node_of("core") == 0


def test_by_default_all_nodes_are_used(job):
    assert layouts_of(None, "2", 0) == (Layout(4, 2),)
    assert layouts_of(None, "2", 8) == (Layout(8, 2),), "of the job that will run it"


def test_without_a_job_there_is_one_node():
    assert layouts_of(None, "1,2", 0) == (Layout(1, 2),), "one rank alone has no other one"
    assert layouts_of(None, None, 0) == ()


@pytest.mark.parametrize(
    ("words", "other", "why"),
    [
        (("2", None), "", "--node-counts needs --ranks-per-node"),
        (("2", "4"), "--ranks", "--ranks and --ranks-per-node both say how many ranks there are"),
        (("2", "4"), "--mapping", "--mapping and --ranks-per-node both say where the ranks run; give only one"),
        (("0", "4"), "", "--node-counts: '0' is not a number from 1 to 4096"),
        (("2", "4-8"), "", "--ranks-per-node: '4-8' is not a number from 1 to 4096"),
        (("2", ","), "", "--ranks-per-node is empty; write numbers with commas between them"),
        (("1", "1"), "", "one rank on one node calls no other rank"),
        (("100", "100"), "", "at most 4096 ranks can be measured, not 10000"),
    ],
)
def test_a_wrong_layout_is_told(words, other, why):
    with pytest.raises(InputError, match=why):
        layouts_of(*words, 0, other)


def test_a_rules_file_holds_one_layout_for_each_number_of_ranks():
    kept, said = one_for_each_number(layouts_of("1,2,4", "2,4", 0))
    assert kept == (Layout(1, 2), Layout(1, 4), Layout(2, 4), Layout(4, 4))
    assert said == [
        "A rules file cannot tell 1 node with 4 ranks each and 2 nodes with 2 ranks each apart: "
        "culmen tunes only 1 node with 4 ranks each.",
        "A rules file cannot tell 2 nodes with 4 ranks each and 4 nodes with 2 ranks each apart: "
        "culmen tunes only 2 nodes with 4 ranks each.",
    ]  # fmt: skip
    assert one_for_each_number(layouts_of("2", "2,4", 0))[1] == []


def test_launchers_are_told_the_ranks_per_node():
    assert layouts.flags_of(Launcher("mpirun", OPEN_MPI), 4) == ["--map-by", "ppr:4:node"]
    assert layouts.flags_of(Launcher("mpirun", MPICH), 4) == ["-ppn", "4"]
    oversubscribed = [*OPEN_MPI_5.oversubscribed.flags, *layouts.flags_of(Launcher("mpirun", OPEN_MPI_5), 4)]
    assert layouts.joined(oversubscribed) == ["--bind-to", "none", "--map-by", "ppr:4:node:OVERSUBSCRIBE"]
    assert layouts.joined(OPEN_MPI_5.oversubscribed.flags) == ["--bind-to", "none", "--map-by", ":OVERSUBSCRIBE"]


def test_a_job_must_have_room(job):
    layouts.check_room([Layout(3, 4), Layout(4, 2)])
    with pytest.raises(InputError, match="--node-counts 5: this allocation has 4 nodes"):
        layouts.check_room([Layout(5, 1)])
    with pytest.raises(InputError, match="--ranks-per-node 4: this allocation has room for 2 ranks on a node"):
        layouts.check_room([Layout(4, 4)])


def test_other_places_of_the_ranks_are_told():
    layouts.check_placed("4-per-node", 8, (2, 4))
    layouts.check_placed("", 8, (1, 8))
    with pytest.raises(
        InputError, match="asked for 2 nodes with 4 ranks each, but the launcher used 1 node with up to"
    ):
        layouts.check_placed("4-per-node", 8, (1, 8))


def test_a_rules_file_is_tried_with_the_layout_that_was_measured(monkeypatch, tmp_path):
    mappings = []

    def session(_launcher, ranks, _timeout_s, _environment, mapping):
        mappings.append((ranks, mapping))
        raise LostError("no ranks here")

    monkeypatch.setattr(tried, "Session", session)
    expected = [tried.Expected("bcast", ranks, 8, "chain") for ranks in (2, 4)]
    found = tried.not_as_expected(
        Launcher("mpirun", OPEN_MPI), tmp_path / "rules.conf", expected, {}, {("bcast", 4): "2-per-node"}
    )
    assert mappings == [(2, ""), (4, "2-per-node")]
    assert set(found.values()) == {"no ranks here"}
