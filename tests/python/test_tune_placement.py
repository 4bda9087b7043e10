"""`culmen tune placement`: topologies, typed command lines, the space, and the command lines of candidates."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from culmen.base.cpus import cpu_list, sockets_of
from culmen.launch.mpi import load
from culmen.problem.parameter import Parameter
from culmen.problem.space import Space
from culmen.tune.command.line import settings_of
from culmen.tune.placement import line as lines
from culmen.tune.placement import pages, placed
from culmen.tune.placement.line import Line, read_line
from culmen.tune.placement.space import plan_of, space_of
from culmen.tune.placement.spread import with_nodes_used
from culmen.tune.placement.topology import Topology, from_sys, read_topology

from culmen import InputError

pytestmark = pytest.mark.no_numbers

needs_hwloc = pytest.mark.skipif(not shutil.which("lstopo-no-graphics"), reason="hwloc is not installed")
MPIS = {mpi.title: mpi for mpi in load()}


def machine(sockets=2, cores=18, threads=2, nodes=None):
    """CPUs are numbered as by hwloc: socket by socket, core by core."""
    each = cores * threads
    made = [[[s * each + c * threads + t for t in range(threads)] for c in range(cores)] for s in range(sockets)]
    nodes = sockets if nodes is None else nodes
    size = sockets * each // max(1, nodes)
    return Topology(made, {k: [*range(k * size, (k + 1) * size)] for k in range(nodes)}, "test")


def launched(title, *words, openmp=False, threads=0, ranks=36, nodes=1, options=()):
    options = [("ranks", ["-n", str(ranks * nodes)]), *options]
    return Line({}, [], ["./app", *words], threads, openmp, "mpiexec", MPIS[title], options, ranks, nodes)


def command(line, topology, **settings):
    variables, words = placed.command_of(plan_of(line, topology, Path("/")), settings_of(settings))
    return " ".join([*(f"{name}={value}" for name, value in variables.items()), *words])


@needs_hwloc
@pytest.mark.parametrize(
    ("text", "sockets", "cores", "threads", "nodes"),
    [
        ("pack:2 numa:1 core:18 pu:2", 2, 18, 2, 2),
        ("pack:4 numa:1 core:12 pu:1", 4, 12, 1, 4),
        ("pack:2 numa:4 core:16 pu:2", 2, 64, 2, 8),
        ("numa:1 core:4 pu:1", 1, 4, 1, 1),
    ],
)
def test_a_synthetic_topology_is_understood(text, sockets, cores, threads, nodes):
    found = read_topology(text)
    assert (len(found.sockets), found.cores_per_socket, found.threads_per_core) == (sockets, cores, threads)
    assert len(found.numa) == nodes
    cpus = {cpu for socket in found.sockets for core in socket for cpu in core}
    assert {cpu for node in found.numa.values() for cpu in node} == cpus


@needs_hwloc
def test_the_numbers_of_cpus_are_those_of_the_system():
    found = read_topology("pack:2 numa:1 core:2 pu:2(indexes=pack:core)")
    assert found.sockets == [[[0, 4], [2, 6]], [[1, 5], [3, 7]]]


@needs_hwloc
def test_a_variable_of_hwloc_replaces_this_machine(monkeypatch):
    monkeypatch.setenv("HWLOC_SYNTHETIC", "pack:4 core:6 pu:1")
    assert len(read_topology().sockets) == 4


def test_this_machine_has_the_cpus_that_this_process_may_use():
    found = read_topology()
    assert {cpu for cores in found.sockets for core in cores for cpu in core} == os.sched_getaffinity(0)


def test_xml_of_hwloc_can_be_read_without_hwloc(tmp_path, monkeypatch):
    core = '<object type="Core"><object type="PU" os_index="{0}"/></object>'
    sockets = "".join(f'<object type="Package">{core.format(k)}{core.format(k + 2)}</object>' for k in (0, 1))
    node = '<object type="NUMANode" os_index="0" cpuset="0x0000000f"/>'
    (tmp_path / "node.xml").write_text(f'<topology><object type="Machine">{node}{sockets}</object></topology>')
    monkeypatch.setenv("PATH", "")
    found = read_topology(str(tmp_path / "node.xml"))
    assert found.sockets == [[[0], [2]], [[1], [3]]]
    assert found.numa == {0: [0, 1, 2, 3]}


def test_without_hwloc_the_kernel_tells(tmp_path):
    for cpu, (socket, siblings) in enumerate([(0, "0,4"), (0, "1,5"), (1, "2,6"), (1, "3,7")] * 2):
        place = tmp_path / "cpu" / f"cpu{cpu}" / "topology"
        place.mkdir(parents=True)
        (place / "physical_package_id").write_text(f"{socket}\n")
        (place / "thread_siblings_list").write_text(f"{siblings}\n")
    for node, cpus in enumerate(("0-1,4-5", "2-3,6-7", "")):
        (tmp_path / "node" / f"node{node}").mkdir(parents=True)
        (tmp_path / "node" / f"node{node}" / "cpulist").write_text(f"{cpus}\n")
    found = from_sys(tmp_path, {*range(8)})
    assert found.sockets == [[[0, 4], [1, 5]], [[2, 6], [3, 7]]]
    assert found.numa == {0: [0, 1, 4, 5], 1: [2, 3, 6, 7], 2: []}, "a node may have memory alone"
    assert from_sys(tmp_path, {0, 1, 4}).sockets == sockets_of({0, 1, 4}, tmp_path) == [[[0, 4], [1]]]


def test_a_kernel_without_numa_has_no_nodes(tmp_path):
    found = from_sys(tmp_path, {0, 1})
    assert (found.sockets, found.numa) == ([[[0], [1]]], {})
    assert sockets_of({0, 1}, tmp_path) == [], "the kernel does not tell"
    assert cpu_list("0-2,8,10-11") == [0, 1, 2, 8, 10, 11]


@pytest.mark.parametrize("text", ["nonsense", "pack:0", "there/is/none.xml"])
def test_a_wrong_topology_is_a_sentence(text):
    with pytest.raises(InputError, match="--topology"):
        read_topology(text)


def test_an_equal_number_of_ranks_is_on_each_socket():
    line = launched("Open MPI 4")
    assert command(line, machine(), ranks_per_node=24, binding="core", order="core") == (
        "mpiexec -n 24 --map-by ppr:12:socket:PE=1 --rank-by slot --bind-to core ./app"
    )
    plan = plan_of(line, machine(), Path("/"))
    for sockets in (2, 4):
        plan = plan_of(line, machine(sockets=sockets), Path("/"))
        for order in ("core", "socket"):
            cpus = placed.rank_cpus(plan, 12 * sockets, 1, False, order)
            assert [sum(c[0] // 36 == s for c in cpus) for s in range(sockets)] == [12] * sockets
    assert [c[0] // 36 for c in cpus[:5]] == [0, 1, 2, 3, 0], "the next rank is on the next socket"


def test_mpich_gets_the_cpus_of_each_rank():
    line, small = launched("MPICH 4", ranks=4), machine(cores=2)
    assert command(line, small, ranks_per_node=2, binding="core", order="core") == (
        "mpiexec -n 2 -bind-to user:0+1,4+5 ./app"
    )
    assert "user:0+1,4+5,2+3,6+7 " in command(line, small, binding="core", order="socket")
    assert "user:0,1,2,3,4,5,6,7 " in command(
        line, small, ranks_per_node=8, binding="core", order="core", hyper_threads=True
    )
    assert "user:0+1+2+3,4+5+6+7 " in command(line, small, ranks_per_node=2, binding="socket", order="core")


def test_settings_as_typed_give_the_typed_line():
    typed = [("placement", ["--bind-to", "socket"]), ("", ["--mca", "btl", "self,tcp"]), ("per node", ["-N", "36"])]
    line = launched("Open MPI 4", "-n", "7", options=typed)
    space = space_of(line, machine(), None, None, by_figure=True)
    present = {name: table["initial"] for name, table in space.parameters.items() if "initial" in table}
    want = "mpiexec -n 36 --bind-to socket --mca btl self,tcp -N 36 ./app -n 7"
    assert command(line, machine(), **present) == want
    assert "--bind-to none --mca" not in command(line, machine(), **present | {"binding": "none"})
    assert "--bind-to socket" not in command(line, machine(), **present | {"binding": "none"})
    assert "--mca btl self,tcp" in command(line, machine(), **present | {"binding": "none"})


@pytest.mark.parametrize("title", ["Open MPI 4", "Open MPI 5"])
def test_oversubscription_stays_with_every_binding(title):
    typed = [("placement", ["--map-by", "slot:OVERSUBSCRIBE"])]
    line = launched(title, ranks=8, options=typed)
    for binding in ("none", "core", "socket"):
        got = command(line, machine(1, 2, 1), binding=binding, order="core")
        assert "mpiexec -n 8 --oversubscribe --map-by ppr:8:" in got
        assert "slot:OVERSUBSCRIBE" not in got
    assert "--nooversubscribe" in command(
        launched(title, options=[("placement", ["--map-by", ":nooversubscribe"])]), machine(), binding="none"
    )


def test_threads_share_the_cores_of_their_rank():
    line = launched("Open MPI 5", openmp=True, threads=1)
    got = command(line, machine(), ranks_per_node=6, threads=6, binding="core", order="socket")
    assert "-n 6 --map-by ppr:3:package:PE=6 --rank-by span --bind-to core -x OMP_NUM_THREADS=6" in got
    assert "-x OMP_PLACES=cores -x OMP_PROC_BIND=close" in got
    got = command(line, machine(), ranks_per_node=6, threads=12, binding="core", order="core", hyper_threads=True)
    assert "ppr:3:package:PE=12:HWTCPUS --rank-by slot --bind-to hwthread" in got
    assert "-x OMP_PLACES=threads" in got
    unknown = launched("Open MPI 4", openmp=True, threads=0)
    assert "PE=6" in command(unknown, machine(), ranks_per_node=6, binding="core", order="core"), (
        "a rank gets its share"
    )


def test_variables_that_were_typed_are_replaced():
    options = [("variable OMP_NUM_THREADS", ["-genv", "OMP_NUM_THREADS", "2"])]
    line = launched("MPICH 4", openmp=True, threads=2, ranks=4, options=options)
    got = command(line, machine(), ranks_per_node=4, threads=4)
    assert got == "mpiexec -n 4 -genv OMP_NUM_THREADS 4 ./app"


def test_hyper_threads_are_slots_of_open_mpi():
    line = launched("Open MPI 4")
    got = command(line, machine(), ranks_per_node=72, hyper_threads=True)
    assert got == "mpiexec -n 72 --use-hwthread-cpus ./app"
    got = command(line, machine(), ranks_per_node=72, hyper_threads=True, binding="core", order="core")
    assert "--use-hwthread-cpus --map-by ppr:36:socket:PE=1 --rank-by slot --bind-to hwthread" in got


def test_all_nodes_get_the_same_ranks():
    line = launched("MPICH 4", ranks=4, nodes=2)
    assert command(line, machine(cores=2), ranks_per_node=2) == "mpiexec -n 4 -ppn 2 ./app"
    assert command(line, machine(cores=2), ranks_per_node=2, binding="core", order="core") == (
        "mpiexec -n 4 -bind-to user:0+1,4+5 -ppn 2 ./app"
    )


@pytest.mark.parametrize(
    ("title", "typed", "words"),
    [
        ("Open MPI 4", [], "-n 4 --map-by ppr:{}:node"),
        ("Open MPI 5", ["--map-by", "core:OVERSUBSCRIBE"], "-n 4 --oversubscribe --map-by ppr:{}:node"),
        ("MPICH 4", [], "-n 4 -ppn {}"),
    ],
)
def test_the_same_ranks_are_spread_over_more_nodes(title, typed, words):
    line = replace(launched(title, ranks=4, options=[("placement", typed)] if typed else []), most_nodes=4)
    space = space_of(line, machine(1, 4, 1), None, None)
    assert space.parameters["nodes"] == {"type": "ordinal", "choices": [1, 2, 4], "initial": 1}
    assert command(line, machine(1, 4, 1), nodes=1) == " ".join(["mpiexec -n 4", *typed, "./app"])
    for nodes in (2, 4):
        assert command(line, machine(1, 4, 1), nodes=nodes) == f"mpiexec {words.format(4 // nodes)} ./app"
    bound = command(line, machine(1, 4, 1), nodes=2, binding="none")
    assert "-ppn 2" in bound if title.startswith("MPICH") else "ppr:2:node" in bound


def test_bound_ranks_do_not_exceed_their_share_of_a_node():
    """Open MPI would start one rank on each socket: two on the first two nodes, and none on the others."""
    for title, allowed in (("Open MPI 4", False), ("Open MPI 5", False), ("MPICH 4", True)):
        space = space_of(replace(launched(title, ranks=4), most_nodes=4), machine(2, 4, 1), None, None)
        assert fits(space, nodes=2, binding="core", order="core")
        assert fits(space, nodes=4, binding="none")
        assert fits(space, nodes=4, binding="core", order="core") == allowed


def test_a_node_gets_no_more_ranks_than_cores():
    line = replace(launched("Open MPI 4", ranks=2, nodes=2), most_nodes=4)
    assert space_of(line, machine(1, 2, 1), None, None).parameters["nodes"]["choices"] == [2, 4]
    assert "nodes" not in space_of(line, machine(1, 2, 1), None, None, by_figure=True).parameters
    threaded = space_of(replace(line, openmp=True, threads=1), machine(1, 2, 1), None, [1, 2])
    assert fits(threaded, nodes=4, threads=2)
    assert not fits(threaded, nodes=2, threads=2)
    fixed = space_of(line, machine(1, 2, 1), [2], None, by_figure=True)
    assert "nodes" in fixed.parameters


@pytest.mark.parametrize(
    ("said", "nodes", "ranks", "most"),
    [("a\na\na\na\n", 1, 4, 4), ("[0] a\n[1] b\n[2] a\n[3] b\n", 2, 2, 4), ("a\na\na\nb\n", 4, 1, 1), ("a\n", 4, 1, 1)],
)
def test_the_launcher_shows_how_many_nodes_a_line_uses(tmp_path, said, nodes, ranks, most):
    (tmp_path / "mpiexec").write_text(f"#!/bin/sh\nprintf '{said}'\n")
    (tmp_path / "mpiexec").chmod(0o755)
    line = replace(launched("MPICH 4", ranks=1, nodes=4), launcher=str(tmp_path / "mpiexec"), most_nodes=4)
    found = with_nodes_used(line)
    assert (found.nodes, found.ranks, found.most_nodes) == (nodes, ranks, most)


def test_a_launcher_that_fails_is_a_sentence():
    line = replace(launched("MPICH 4", ranks=1, nodes=4), launcher="false", most_nodes=4)
    with pytest.raises(InputError, match="false could not start the program uname"):
        with_nodes_used(line)


def test_memory_and_huge_pages_are_for_the_program_alone(monkeypatch):
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=2:glibc.malloc.hugetlb=0")
    got = command(launched("Open MPI 4"), machine(), memory="interleave", pages="transparent")
    variable = "GLIBC_TUNABLES=glibc.malloc.arena_max=2:glibc.malloc.hugetlb=1"
    assert got == f"mpiexec -n 36 -x {variable} numactl --interleave=all ./app"
    assert "hugetlb=2" in command(launched("Open MPI 4"), machine(), pages="explicit")
    assert "numactl --localalloc ./app" in command(launched("Open MPI 4"), machine(), memory="local")


def test_a_program_without_ranks_gets_places_of_openmp():
    line, small = Line({}, [], ["./app"], 0, True), machine(cores=2)
    assert command(line, small, threads=2, binding="core", order="core") == (
        "OMP_NUM_THREADS=2 OMP_PLACES={0,1},{4,5} OMP_PROC_BIND=close ./app"
    )
    assert "OMP_PLACES={0},{4},{1},{5} " in command(
        line, small, threads=4, binding="core", order="socket", hyper_threads=True
    )
    assert command(line, small, binding="none") == "OMP_PROC_BIND=false ./app"
    assert command(line, small, binding="as typed", threads=0) == "./app"


def test_a_program_without_openmp_gets_a_set_of_cores():
    line, small = Line({"A": "1"}, [], ["./app"], 0, False), machine(cores=4)
    space = space_of(line, small, None, None)
    assert space.parameters["cores"]["choices"] == [4, 6, 8]
    assert command(line, small, cores=4) == "A=1 taskset --cpu-list 0,1,2,3,8,9,10,11 ./app"
    assert command(line, small, cores=8) == "A=1 ./app"


def test_the_space_has_what_the_machine_has(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    wide = space_of(launched("Open MPI 4", openmp=True, threads=1), machine(nodes=4), None, None, True)
    assert {*wide.parameters} >= {"ranks_per_node", "threads", "hyper_threads", "binding", "order", "memory"}
    assert 24 in wide.parameters["ranks_per_node"]["choices"]
    assert wide.parameters["binding"]["choices"] == ["as typed", "none", "core", "numa", "socket"]
    plain = space_of(launched("Open MPI 4", ranks=2), machine(1, 2, 1), None, None)
    assert not {"hyper_threads", "order", "memory", "threads"} & {*plain.parameters}
    assert "Memory policy: the machine has one NUMA node." in plain.left_out
    assert plain.runs < wide.runs
    fixed = space_of(launched("Open MPI 4"), machine(), [36], None)
    assert "ranks_per_node" not in fixed.parameters


def test_wall_times_are_compared_with_the_same_ranks():
    space = space_of(launched("Open MPI 4"), machine(), None, None)
    assert "ranks_per_node" not in space.parameters
    assert any(sentence.startswith("Ranks: their number stays") for sentence in space.left_out)
    assert "ranks_per_node" in space_of(launched("Open MPI 4"), machine(), [18, 36], None).parameters
    assert "ranks_per_node" in space_of(launched("Open MPI 4"), machine(), None, None, by_figure=True).parameters


def fits(space, **settings):
    """Whether the constraints allow these settings."""
    assert settings.keys() <= space.parameters.keys()
    tables = {name: {"type": "categorical", **table} for name, table in space.parameters.items()}
    tables |= {name: {**tables[name], "initial": value} for name, value in settings.items()}
    parameters = {name: Parameter(**table) for name, table in tables.items()}
    core = Space(parameters, space.constraints).core
    return core.violation(core.start()) == 0


def test_ranks_with_threads_fit_on_their_socket():
    line = launched("Open MPI 4", openmp=True, threads=12, ranks=2)
    space = space_of(line, machine(threads=1), [2, 3, 4], [6, 9, 12])
    assert fits(space, ranks_per_node=2, threads=12, binding="core", order="core")
    assert not fits(space, ranks_per_node=3, threads=12, binding="core", order="core")
    assert fits(space, ranks_per_node=3, threads=12, binding="none")
    assert fits(space, ranks_per_node=4, threads=9, binding="core", order="core")


@pytest.mark.parametrize(("ranks", "threads"), [([2, 8], [1, 4]), (None, [1, 9]), ([1, 2], [1])])
def test_each_listed_number_can_be_tried(ranks, threads):
    """Also more than there are cores, or so few that most of them are idle."""
    line = launched("Open MPI 4", openmp=True, threads=2, ranks=2)
    space = space_of(line, machine(1, 4, 1), ranks, threads)
    several = ranks or [line.ranks]
    for number in several:
        assert any(fits(space, **({"ranks_per_node": number} if ranks else {}), threads=k) for k in threads)
    for number in threads:
        assert any(fits(space, **({"ranks_per_node": k} if ranks else {}), threads=number) for k in several)
    assert not ranks or not fits(space, ranks_per_node=max(ranks), threads=max(threads)) or max(ranks) == 2


def test_memory_of_one_node_is_tried_if_it_can_be_enough(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    fast = Topology(machine().sockets, {**machine().numa, 2: [], 3: []}, "test")  # the last two have memory alone
    choices = space_of(launched("Open MPI 4"), fast, None, None).parameters["memory"]["choices"]
    assert choices == ["as typed", "interleave", "local", "node 2", "node 3"]
    plain = Line({}, [], ["./app"], 0, True)
    assert "node 0" in space_of(plain, fast, None, None).parameters["memory"]["choices"]
    assert command(plain, fast, memory="node 2") == "numactl --membind=2 ./app"


def test_a_machine_without_numactl_is_a_sentence(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    space = space_of(launched("Open MPI 4"), machine(), None, None)
    assert "memory" not in space.parameters
    assert any("no program numactl" in sentence for sentence in space.left_out)


@pytest.mark.parametrize(
    ("mode", "free", "choices", "sentence"),
    [
        ("always [madvise] never", "8", ["transparent", "explicit"], ""),
        ("[always] madvise never", "0", [], "they are on for all programs already"),
        ("always madvise [never]", "0", [], "this kernel does not allow them"),
        ("always [madvise] never", "0", ["transparent"], "sysctl vm.nr_hugepages=N"),
    ],
)
def test_huge_pages_are_tried_if_this_kernel_allows_them(tmp_path, monkeypatch, mode, free, choices, sentence):
    (tmp_path / "transparent_hugepage").mkdir()
    (tmp_path / "transparent_hugepage" / "enabled").write_text(mode)
    (tmp_path / "hugepages" / "hugepages-2048kB").mkdir(parents=True)
    (tmp_path / "hugepages" / "hugepages-2048kB" / "free_hugepages").write_text(free)
    monkeypatch.setattr(pages, "_has_tunable", lambda: True)
    kinds, left_out = pages.huge_pages(tmp_path)
    assert kinds == choices
    assert sentence in " ".join(left_out)


@pytest.fixture
def known_launchers(monkeypatch, tmp_path):
    """mpiexec is Open MPI 4, mpiexec.mpich is MPICH 4, and ./app is a program."""
    says = {"mpiexec": "mpiexec (OpenRTE) 4.1.4", "mpiexec.mpich": "HYDRA build details:\n    Version:    4.0.2"}
    there = {name: f"/bin/{name}" for name in (*says, "./app", "sh", "numactl", "srun")}
    monkeypatch.setattr(lines, "said_by", lambda *words: says.get(Path(words[0]).name, ""))
    monkeypatch.setattr(shutil, "which", there.get)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    return tmp_path


def test_a_typed_line_is_taken_apart(known_launchers):
    typed = "env A=1 OMP_NUM_THREADS=2 mpiexec --oversubscribe --mca io ompio -np 8 --bind-to core -x B=2 ./app -n 3"
    line = read_line(typed.split())
    assert (line.ranks, line.threads, line.openmp) == (8, 2, True)
    assert line.variables == {"A": "1", "OMP_NUM_THREADS": "2"}
    assert line.program == ["./app", "-n", "3"]
    assert [role for role, _ in line.options] == ["", "", "ranks", "placement", "variable B"]
    typed = "mpiexec.mpich -genvall -genv OMP_NUM_THREADS 3 -ppn 4 -hosts a,b -n 8 numactl -l ./app"
    line = read_line(typed.split())
    assert (line.ranks, line.nodes, line.threads, line.program[0]) == (4, 2, 3, "numactl")


@pytest.mark.parametrize(
    ("words", "nodes"),
    [
        (["mpiexec", "-H", "a:2,b:2", "-n", "4", "./app"], 2),
        (["nice", "mpiexec", "-n", "4", "./app", "-H", "a,b"], 1),
        (["./app"], 1),
    ],
)
def test_nodes_of_a_command_are_counted(monkeypatch, words, nodes):
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    assert lines.nodes_of(words, MPIS["Open MPI 4"]) == nodes


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("", "a command after -- is missing"),
        ("mpiexec ./app", "needs the number of ranks once, as -n N"),
        ("mpiexec -n 4", "is given no program"),
        ("mpiexec -n 4 ./none", "the program './none' was not found"),
        ("mpiexec -n 2 ./app : -n 2 ./app", "cannot place several programs"),
        ("mpiexec.mpich -n 3 -hosts a,b ./app", "3 ranks cannot be shared out evenly to 2 nodes"),
        ("srun -n 4 ./app", "does not know the options of srun"),
        ("./none", "the program './none' was not found"),
        ("env -u A mpiexec -n 4 ./app", "does not know the option -u of env"),
        ("env A=1 -i ./app", "does not know the option -i of env"),
    ],
)
def test_a_line_that_cannot_be_varied_is_a_sentence(known_launchers, typed, message):
    with pytest.raises(InputError) as caught:
        read_line(typed.split())
    assert message in str(caught.value)


def test_hosts_in_a_file_are_nodes(known_launchers):
    (known_launchers / "hosts").write_text("# two\na slots=4\nb slots=4\na\n")
    assert read_line(f"mpiexec --hostfile {known_launchers}/hosts -n 8 ./app".split()).nodes == 2


def test_ranks_are_for_programs_with_ranks():
    with pytest.raises(InputError, match="--ranks"):
        space_of(Line({}, [], ["./app"], 0, False), machine(), [2], None)
