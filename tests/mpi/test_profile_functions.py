"""Every function that a profile counts, in programs that know their own traffic."""

import re
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path

import pytest
from culmen.profile.recorded import Rank, read_folder
from fortran_calls import Program
from harness import ROOT
from profiles import Counted, built, counted, of_mpi4py, profiled, started

RUNS = [(program, ranks) for program in ("messages", "collectives", "windows", "communicators") for ranks in (2, 3)]
RUNS += [("files", 1), ("files", 2)]  # Open MPI 4.1 crashes with three ranks, also without a profile
STARTS = re.compile(
    r"MPI_(I(?!ntercomm|probe|mprobe)|R(put|get|acc)|File_i|Comm_i(dup|flush)|Grequest_start)|.* started$"
)


def expected(folder, rank: int) -> Counted:
    out = {}
    for line in (folder / f"expected.{rank}").read_text().splitlines():
        function, group, calls, amount = line.split("\t")
        was = out.get((function.removesuffix("_c"), group), (0, 0))
        out[function.removesuffix("_c"), group] = (was[0] + int(calls), was[1] + int(amount))
    return out


def check_ends(rank: Rank) -> None:
    """All requests have ended, and waits are charged to them."""
    for each in rank.calls:
        if STARTS.match(each.function):
            assert each.completed == each.calls, each
    assert sum(each.charged_s for each in rank.calls) == pytest.approx(0, abs=1e-12)
    assert rank.uncharged == 0
    assert rank.further_calls == 0


@pytest.mark.parametrize(("program", "ranks"), RUNS)
def test_calls_and_bytes_are_what_the_program_knows(mpi, tmp_path, program, ranks):
    done = profiled(tmp_path, built(mpi, tmp_path, f"{program}_program.c"), ranks)
    assert done.returncode == 0, done.stdout + done.stderr
    profile = read_folder(tmp_path / "out")
    assert len(profile) == ranks
    for rank in profile:
        assert counted([rank]) == expected(tmp_path, rank.rank)
        check_ends(rank)
    if program == "files":
        hints = "cb_nodes=1; access_style=write_once; cb_buffer_size=65536; striping_unit=4096"
        assert f"The program gave world/file data.bin the hints {hints}." in " ".join(done.stdout.split())
        assert profile[0].hints == {"world/file data.bin": hints}


@pytest.mark.parametrize("words", [[], ["spawn"]])
def test_programs_that_find_each_other_know_what_is_counted(tmp_path, words):
    """MPICH over UCX, as Debian has it, neither opens ports nor spawns programs, with or without a profile."""
    mpi = "openmpi"
    done = profiled(tmp_path, built(mpi, tmp_path, "spawn_program.c"), 2, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    profile = read_folder(tmp_path / "out")
    spawned = [rank for rank in profile if any(calls.communicator == "parent" for calls in rank.calls)]
    assert len(spawned) == (3 if words else 0)
    for rank in spawned:
        assert counted([rank]) == {
            ("MPI_Comm_get_parent", ""): (2, 0),
            ("MPI_Bcast", "parent"): (1, 4),
            ("MPI_Comm_disconnect", "parent"): (1, 0),
        }
    others = [rank for rank in profile if rank not in spawned]
    assert len(others) == 2
    for rank in others:
        assert counted([rank]) == expected(tmp_path, rank.rank)
        check_ends(rank)


# They need a server of names, a second program's socket, or a later MPI than most machines have.
ELSEWHERE = {"MPI_Publish_name", "MPI_Lookup_name", "MPI_Unpublish_name", "MPI_Comm_join"}
# They only ask, or change something of the own process: nothing is sent, and nobody waits.
LOCAL = """
    Abi_.* Abort Add_error_.* Address Aint_.* Alloc_mem Attr_.* Buffer_attach Cart_(coords|get|map|rank|shift) DUP_FN
    Cartdim_get (Comm|Session)_attach_buffer Comm_(compare|group|rank|remote_group|remote_size|size|test_inter)
    Dims_create Dist_graph_neighbors(_count)? Errhandler_.* Error_.* Finalized? Free_mem Graph_(get|map|neighbors.*)
    File_get_(amode|atomicity|byte_offset|group|info|position|type_extent|view) Get_(?!accumulate).* Graphdims_get
    Group_.* Info_.* Initialized Init(_thread)? Is_thread_main Keyval_.* Op_.* Pack.* Pcontrol Query_thread Reduce_local
    Register_datarep Remove_error_.* Status_.* T_.* Test_cancelled Topo_test Type_.* Unpack.* NULL_.*_FN
    Win_(get_group|get_info|shared_query) Finalize (Comm|File|Win|Session)_((create|get|set|call)_errhandler|get_info)
    (Comm|Win)_(.*keyval|.*_attr|[gs]et_name) .*_(c2f|f2c|f082c|c2f08|toint|fromint)
"""
# They begin and end a profile, or only ask.
SESSIONS = "Session_.*"


def names_of_the_table() -> set[str]:
    sys.path.insert(0, str(ROOT / "src" / "mpiprobe"))
    import wrappers

    table = RawConfigParser()
    table.read(ROOT / "src" / "mpiprobe" / "functions.ini")
    families = [wrappers.family_of(name, dict(table[name])) for name in table.sections()]
    return {name for family in families for name in family}


def names_of(mpi: str) -> set[str]:
    """The functions that the MPI declares."""
    shown = subprocess.run(
        [f"mpicc.{mpi}", "-E", "-x", "c", "-"], input="#include <mpi.h>", capture_output=True, text=True
    )
    return {f"MPI_{name}" for name in re.findall(r"\bint\s+MPI_([A-Z]\w+?)(?:_c)?\s*\(", shown.stdout)}


# Programs in C start others, and meet them.
WITH_OTHERS = {f"MPI_Comm_{word}" for word in ("spawn", "spawn_multiple", "accept", "connect")}
PORTS = {"MPI_Open_port", "MPI_Close_port"}


def test_every_function_of_mpi4py_is_what_the_program_knows(mpi, tmp_path):
    script = Path(__file__).with_name("mpi4py_program.py")
    done = profiled(tmp_path, [*started(mpi), sys.executable, str(script)], 2, **of_mpi4py(mpi))
    assert done.returncode == 0, done.stdout + done.stderr
    profile = read_folder(tmp_path / "out")
    assert len(profile) == 2
    for rank in profile:
        assert counted([rank]) == expected(tmp_path, rank.rank)
        check_ends(rank)
    found = {calls.function for rank in profile for calls in rank.calls}
    here = names_of_the_table() & names_of(mpi)
    assert here - found <= ELSEWHERE | WITH_OTHERS | (set() if mpi == "openmpi" else PORTS)


def test_every_function_of_an_mpi_is_counted_or_only_asks(mpi):
    names = {name.removeprefix("MPI_") for name in names_of(mpi)}
    assert len(names) > 300
    local = re.compile("|".join([*LOCAL.split(), SESSIONS]))
    counted_names = {name.removeprefix("MPI_") for name in names_of_the_table()}
    assert sorted(name for name in names - counted_names if not local.fullmatch(name)) == []
    assert sorted(name for name in counted_names if local.fullmatch(name)) == []


def test_every_function_of_the_table_is_in_a_program():
    """So a new function needs a line in one of them."""
    written = (ROOT / "src" / "mpiprobe" / "functions.ini").read_text()
    names = set(re.findall(r"^\[(\w+)\]$", written, re.M))
    names |= set(re.findall(r"^(?:nonblocking|prepared|persistent) = (\w+)$", written, re.M))
    programs = "".join(path.read_text() for path in (ROOT / "tests" / "mpi").glob("*_program.c"))
    words = set(re.findall(r"\w+", programs))
    # Macros of the programs make these names.
    words |= {f"{word}_init" for word in words} | {
        f"MPI_File_{i}{kind}{way}"
        for i in ("", "i")
        for kind in ("read", "write")
        for way in ("", "_at", "_all", "_at_all", "_shared", "_ordered")
    }
    assert names - words == ELSEWHERE


BINDINGS = {"mpif.h": 0, "mpi": 1, "mpi_f08": 2}
BYTES = 32  # of an array in functions_program.F90
IN_FORTRAN = {
    ("MPI_Send_init", "world"): (1, 0),
    ("MPI_Recv_init", "world"): (1, 0),
    ("MPI_Send_init started", "world"): (3, 3 * BYTES),
    ("MPI_Recv_init started", "world"): (3, 3 * BYTES),
    ("MPI_Startall", ""): (3, 0),
    ("MPI_Waitany", ""): (3, 0),
    ("MPI_Waitsome", ""): (3, 0),
    ("MPI_Request_free", ""): (2, 0),
    ("MPI_Ibcast", "world"): (1, BYTES),
    ("MPI_Iallreduce", "world"): (1, BYTES),
    ("MPI_Wait", ""): (1, 0),
    ("MPI_Bcast", "world"): (1, BYTES),
    ("MPI_Cart_create", "world"): (1, 0),
    ("MPI_Neighbor_alltoall", "world/cart 1"): (1, BYTES),  # with two ranks, each is at an edge
    ("MPI_Comm_free", "world/cart 1"): (1, 0),
    ("MPI_Win_create", "world"): (1, 0),
    ("MPI_Win_fence", "world/window 1"): (2, 0),
    ("MPI_Put", "world/window 1"): (1, BYTES),
    ("MPI_Win_free", "world/window 1"): (1, 0),
    ("MPI_File_open", "world"): (1, 0),
    ("MPI_File_write_at", "world/file data.bin"): (1, BYTES),
    ("MPI_File_read_at_all", "world/file data.bin"): (1, BYTES),
    ("MPI_File_close", "world/file data.bin"): (1, 0),
}


# Fortran has them, but the C programs and mpi4py must do: they need functions of the program, sessions or parts.
NOT_IN_FORTRAN = re.compile(
    "MPI_(Grequest_.*|P(send|recv)_init( started)?|Pready.*|Parrived|.*_from_groups?|Open_port|Close_port)"
)


@pytest.mark.parametrize("binding", BINDINGS)
def test_every_function_of_fortran_is_what_the_program_knows(mpi, tmp_path, binding):
    here = names_of_the_table() & names_of(mpi)
    program, source = Program(here), tmp_path / "every_program.F90"
    source.write_text(program.text(BINDINGS[binding]))
    flags = ["-fallow-argument-mismatch", "-ffree-line-length-none"]
    done = profiled(tmp_path, built(mpi, tmp_path, str(source), *flags), 2)
    assert done.returncode == 0, done.stdout + done.stderr
    profile = read_folder(tmp_path / "out")
    for rank in profile:
        found = counted([rank])
        assert found.pop(("MPI_Win_test", "world/window 1"))[0] >= 1
        assert found.pop(("MPI_File_delete", ""), (1, 0)) == (1, 0)
        assert found == program.expected(rank.rank)
        check_ends(rank)
    called = {calls.function for rank in profile for calls in rank.calls}
    missing = here - called - ELSEWHERE - WITH_OTHERS
    assert sorted(name for name in missing if not NOT_IN_FORTRAN.fullmatch(name)) == []


@pytest.mark.parametrize("binding", BINDINGS)
def test_requests_windows_and_files_of_fortran(mpi, tmp_path, binding):
    flags = ["-cpp", "-fallow-argument-mismatch", f"-DBINDING={BINDINGS[binding]}"]
    done = profiled(tmp_path, built(mpi, tmp_path, "functions_program.F90", *flags), 2)
    assert done.returncode == 0, done.stdout + done.stderr
    for rank in read_folder(tmp_path / "out"):
        found = counted([rank])
        assert found.pop(("MPI_Test", ""))[0] >= 1
        assert found == IN_FORTRAN
        check_ends(rank)


IN_PYTHON = """
import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
next_, last = (world.rank + 1) % world.size, (world.rank - 1) % world.size
there, back = numpy.ones(4), numpy.zeros(4)
MPI.Request.Waitall([world.Irecv(back, last), world.Isend(there, next_)])
world.Iallreduce(there, back).Wait()
both = [world.Send_init(there, next_), world.Recv_init(back, last)]
for _ in range(3):
    MPI.Prequest.Startall(both)
    MPI.Request.Waitall(both)
for request in both:
    request.Free()
window = MPI.Win.Create(numpy.zeros(4), 8, comm=world)
window.Fence()
window.Put(there, next_)
window.Fence()
window.Free()
file = MPI.File.Open(world, "data.bin", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Write_at(world.rank * 32, there)
file.Iread_at(world.rank * 32, back).Wait()
file.Close()
line = world.Create_cart([world.size], periods=[False])
line.Neighbor_alltoall(numpy.ones(8), numpy.zeros(8))
line.Free()
"""


def test_requests_windows_and_files_of_mpi4py(mpi, tmp_path):
    (tmp_path / "script.py").write_text(IN_PYTHON)
    done = profiled(tmp_path, [*started(mpi), sys.executable, "script.py"], 2, **of_mpi4py(mpi))
    assert done.returncode == 0, done.stdout + done.stderr
    for rank in read_folder(tmp_path / "out"):
        assert counted([rank]) == {
            ("MPI_Irecv", "world"): (1, BYTES),
            ("MPI_Isend", "world"): (1, BYTES),
            ("MPI_Iallreduce", "world"): (1, BYTES),
            ("MPI_Wait", ""): (2, 0),
            ("MPI_Waitall", ""): (4, 0),
            ("MPI_Send_init", "world"): (1, 0),
            ("MPI_Recv_init", "world"): (1, 0),
            ("MPI_Send_init started", "world"): (3, 3 * BYTES),
            ("MPI_Recv_init started", "world"): (3, 3 * BYTES),
            ("MPI_Startall", ""): (3, 0),
            ("MPI_Request_free", ""): (2, 0),
            ("MPI_Win_create", "world"): (1, 0),
            ("MPI_Win_fence", "world/window 1"): (2, 0),
            ("MPI_Put", "world/window 1"): (1, BYTES),
            ("MPI_Win_free", "world/window 1"): (1, 0),
            ("MPI_File_open", "world"): (1, 0),
            ("MPI_File_write_at", "world/file data.bin"): (1, BYTES),
            ("MPI_File_iread_at", "world/file data.bin"): (1, BYTES),
            ("MPI_File_close", "world/file data.bin"): (1, 0),
            ("MPI_Cart_create", "world"): (1, 0),
            ("MPI_Neighbor_alltoall", "world/cart 1"): (1, BYTES),
            ("MPI_Comm_free", "world/cart 1"): (1, 0),
        }
        check_ends(rank)
