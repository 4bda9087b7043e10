"""The options of ``culmen bench collectives``: ranks, sizes, roots, mappings, algorithms."""

import re
from pathlib import Path

import pytest
from bench_tables import OPENMPI, complaint, plan
from culmen.bench import mappings
from culmen.bench.collectives.plan import collectives_named, ranks_of, roots_named
from culmen.bench.collectives.points import Protocol, blocks_of
from culmen.bench.mappings import flags_of, mappings_of
from culmen.bench.words import beside, shown_size, sizes_of
from culmen.cli.work.collectives import plan_of
from culmen.launch import allocation
from culmen.launch.mpi import Launcher, load
from culmen.launch.mpi.collectives import DEFAULT

from culmen import InputError

INTEL = next(mpi for mpi in load() if mpi.title == "Intel MPI")
MPICH = next(mpi for mpi in load() if mpi.title == "MPICH 4")


def test_ranges_of_ranks_have_powers_of_two_and_what_lies_between():
    assert ranks_of("2-48") == (2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
    assert ranks_of("5-9:2,2") == (2, 5, 7, 9)
    assert ranks_of("5-11") == (5, 6, 8, 11)
    for wrong in ("1", "8-2", "two", "2-4:0", "2-5000", ""):
        assert complaint(ranks_of, wrong).startswith("--ranks")


def test_ranges_of_sizes_have_powers_of_two():
    assert sizes_of("0,100,4K") == (0, 100, 4096)
    assert sizes_of("3-20") == (3, 4, 8, 16, 20)
    assert sizes_of("1-4M")[-1] == 4 * 1024**2
    assert len(sizes_of("1-4M")) == 23
    assert complaint(sizes_of, "8G") == "--sizes: '8G' is too large; a size is at most 2147483647 bytes"
    assert complaint(sizes_of, "4K-1").startswith("--sizes: '4K-1' is a range that goes down; ")
    assert [shown_size(size) for size in (0, 1000, 2048, 4 * 1024**2)] == ["0 B", "1000 B", "2 KiB", "4 MiB"]
    for wrong in ("-1", "8-2", "4T", "1-2-3", "3G", ""):
        assert complaint(sizes_of, wrong).startswith("--sizes")


def test_sizes_beside_others_are_measured_too():
    assert beside((0, 8, 64), 3) == (0, 3, 5, 8, 11, 61, 64, 67)
    assert beside((8, 64), 0) == (8, 64)


def test_roots_are_ranks():
    assert roots_named("0,3,0") == (0, 3)
    for wrong in ("-1", "first", "4096", ","):
        assert complaint(roots_named, wrong).startswith("--root")


def test_mappings_are_core_socket_or_node():
    assert mappings_of(None) == ("",)
    assert mappings_of("node,core") == ("node", "core")
    assert "did you mean 'core'" in complaint(mappings_of, "cores")
    assert complaint(mappings_of, "").startswith("--mapping")
    launcher = Launcher("mpirun", OPENMPI)
    assert flags_of(launcher, 10**4, "") == []
    assert "each rank needs a core, but 10000 ranks on a node have " in complaint(flags_of, launcher, 10**4, "core")
    assert "culmen does not know how Intel MPI maps" in complaint(flags_of, Launcher("mpirun", INTEL), 1, "core")


def test_a_mapping_needs_a_second_node_or_socket(monkeypatch):
    launcher = Launcher("mpirun", OPENMPI)
    for name in ("SLURM_JOB_ID", "SLURM_TASKS_PER_NODE", "LSB_JOBID", "PBS_JOBID", *(m.host_file for m in load())):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(mappings, "cores", lambda: 2)
    monkeypatch.setattr(mappings, "cores_of_sockets", lambda: [2])
    assert complaint(mappings.check, launcher, 2, ["core", "node"]).startswith("--mapping node: there is only one node")
    assert complaint(mappings.check, launcher, 2, ["socket"]).startswith("--mapping socket: culmen may use only one")
    for sockets in ([1, 1], []):  # the kernel does not tell
        monkeypatch.setattr(mappings, "cores_of_sockets", lambda sockets=sockets: sockets)
        mappings.check(launcher, 2, ["core", "socket"])
    monkeypatch.setattr(mappings, "cores_of_sockets", lambda: [2])
    with monkeypatch.context() as hosts:
        hosts.setenv(OPENMPI.host_file, "hosts")
        mappings.check(launcher, 2, mappings.NAMES)
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    mappings.check(launcher, 2, mappings.NAMES)  # a job that does not name its nodes
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "1(x2)")
    mappings.check(launcher, 2, mappings.NAMES)
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "2")
    assert complaint(mappings.check, launcher, 2, ["node"]).startswith("--mapping node: there is only one node")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"collectives": ("bcst",)}, "--collectives: there is no collective 'bcst'"),
        ({"algorithms": ("binomal",)}, "--algorithms of Open MPI 4: there is no algorithm 'binomal'"),
        (
            {"collectives": ("bcast", "alltoall"), "algorithms": ("knomial",)},
            "--algorithms: alltoall has none of these",
        ),
        ({"mappings": ("core",), "ranks": (4000,)}, "--mapping core: each rank needs a core"),
        ({"roots": (2,)}, "--root 2: it must be from 0 to 1"),
        (
            {"collectives": ("bcast", "alltoall"), "sizes": (2**30,)},
            "--sizes 1073741824: 4 ranks exchange at most 536870911 bytes each in alltoall",
        ),
        (
            {"collectives": ("allgather",), "sizes": (2**20,), "ranks": (2000,)},
            "--sizes 1048576: 2000 ranks need 8.39e+03 GB",
        ),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(given, says):
    text = complaint(plan(**given).check)
    assert says in text
    assert "\n" not in text


def test_only_some_collectives_need_memory_for_a_block_of_each_rank(monkeypatch):
    """The tuning of `--fast` fits on nodes with 256 GB and 128 ranks each."""
    monkeypatch.setattr("culmen.bench.collectives.plan.available_bytes", lambda: 256 * 10**9)
    monkeypatch.setattr("culmen.bench.collectives.plan.ranks_on_a_node", lambda ranks: 128)
    fast = ("bcast", "allreduce", "reduce")
    plan(collectives=fast, ranks=(512, 4096), sizes=(2**20,)).check()
    wanted = plan(collectives=(*fast, "ialltoall"), ranks=(1024,), sizes=(2**20,))
    assert "--sizes 1048576: 1024 ranks need 275 GB" in complaint(wanted.check)
    without = complaint(wanted.check, True, True)
    assert without.startswith("ialltoall with 1048576 bytes, the largest usual size: 1024 ranks need 275 GB")
    assert without.endswith("half; give smaller --sizes, or fewer ranks, or only collectives such as bcast")


def test_the_benchmark_agrees_on_the_collectives_with_one_block():
    source = (Path(__file__).parents[2] / "src/mpibench/operations.c").read_text()
    blocks = dict(re.findall(r'\{"(\w+)", ([01]),', source))
    assert len(blocks) == 17
    for name, number in blocks.items():
        assert blocks_of(name, 7) == blocks_of(f"i{name}", 7) == (int(number) or 7)


def test_an_mpi_whose_algorithms_are_unknown_is_refused():
    other = next(mpi for mpi in load() if mpi.collectives is None)
    assert "does not know yet how" in complaint(plan(other).check)


def test_data_files_name_each_algorithm_once():
    for mpi in (OPENMPI, MPICH):
        for name in mpi.collectives.names:
            algorithms = mpi.collectives.algorithms(name)
            assert algorithms[0].name == DEFAULT
            assert len({one.name for one in algorithms}) == len(algorithms) > 1
            assert len({tuple(one.variables.items()) for one in algorithms}) == len(algorithms)
            functions = [one.function for one in algorithms[1:]]
            assert not any(functions) or len(set(functions)) == len(functions)


def test_data_files_name_the_nonblocking_collectives_for_measurements_only():
    for mpi in (OPENMPI, MPICH):
        known = mpi.collectives
        blocking = {name for name in known.measurable if not name.startswith("i")}
        assert blocking > {"allgatherv", "gatherv", "scatterv", "alltoallv", "alltoallw"}
        assert {*known.measurable} == blocking | {f"i{name}" for name in blocking}
        assert not {*known.names} & {*known.further}
        assert not {*known.further} & {f"i{name}" for name in known.nonblocking}
        for name in {*known.measurable} - {*known.names}:
            algorithms = known.algorithms(name)
            assert algorithms[0].name == DEFAULT
            assert len({tuple(one.variables.items()) for one in algorithms}) == len(algorithms)
    numbers = [one.variables["MPIR_CVAR_IBCAST_INTRA_ALGORITHM"] for one in MPICH.collectives.algorithms("ibcast")]
    assert numbers == [0, 2, 3, 4, 5, 6, 7, 8]
    assert OPENMPI.collectives.keeps("bcast")
    assert not OPENMPI.collectives.keeps("ibcast")
    assert [one.name for one in OPENMPI.collectives.algorithms("igather")] == [DEFAULT]


def test_words_stand_for_groups_of_collectives():
    known = MPICH.collectives
    assert collectives_named("iscan,bcast,bcast", known) == ("iscan", "bcast")
    blocking, nonblocking = collectives_named("blocking", known), collectives_named("nonblocking", known)
    assert "alltoallw" in blocking
    assert "ialltoallv" in nonblocking
    assert {*blocking, *nonblocking} == {*collectives_named("all", known)} == {*known.measurable}


def test_algorithms_for_two_ranks_are_not_tried_with_more():
    names = [[one.name for one in OPENMPI.collectives.algorithms("allgather", ranks)] for ranks in (2, 3)]
    assert "two_proc" in names[0]
    assert "two_proc" not in names[1]


@pytest.mark.parametrize(
    ("text", "tasks", "ranks"), [("4(x2),3", [4, 4, 3], 4), ("2", [2], 2), ("16(x3)", [16] * 3, 7), ("", [], 7)]
)
def test_ranks_fill_the_nodes_of_an_allocation(monkeypatch, text, tasks, ranks):
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", text)
    assert allocation.tasks_on_nodes() == tasks
    assert allocation.ranks_on_a_node(7) == ranks
    monkeypatch.delenv("SLURM_JOB_ID")
    assert allocation.ranks_on_a_node(7) == 7


def test_more_ranks_than_an_allocation_has_tasks_are_refused(monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "1,2")
    assert complaint(plan().check) == (
        "--ranks 4: this allocation has room for 3 ranks; give fewer ranks, or allocate more tasks"
    )
    plan(ranks=(2, 3)).check()
    plan().check(here=False)


def test_wrong_options_name_the_option():
    for option in ("collectives", "ranks", "sizes", "algorithms", "baseline"):
        given = dict.fromkeys(("mpi", "collectives", "algorithms", "ranks", "sizes"))
        with pytest.raises(InputError) as raised:
            plan_of(**{**given, option: "foo"}, protocol=Protocol(), quick=False)
        assert f"--{option}" in str(raised.value)


def test_a_job_with_more_ranks_than_can_be_measured_measures_fewer():
    given = dict.fromkeys(("mpi", "collectives", "algorithms", "ranks"))
    wanted = plan_of(**given, sizes="8", protocol=Protocol(), quick=False, most_ranks=8192)
    assert max(wanted.ranks) == 4096


def test_the_first_launches_have_the_most_ranks():
    """The time limit of a job is estimated from them."""
    wanted = plan(collectives=("bcast", "reduce"), ranks=(2, 4, 8))
    found = [(point["ranks"], point["collective"]) for point in wanted.points()]
    assert found == [(n, name) for n in (8, 2, 4) for name in ("bcast", "reduce")]
