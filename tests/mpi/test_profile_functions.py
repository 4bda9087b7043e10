"""Every function that a profile counts, in programs that know their own traffic."""

import re
import sys

import pytest
from culmen.profile.recorded import Rank, read_folder
from harness import ROOT
from profiles import Counted, built, counted, of_mpi4py, profiled, started

RUNS = [(program, ranks) for program in ("messages", "collectives", "windows", "communicators") for ranks in (2, 3)]
RUNS += [("files", 1), ("files", 2)]  # Open MPI 4.1 crashes with three ranks, also without a profile
STARTS = re.compile(r"MPI_(I(?!ntercomm|probe|mprobe)|R(put|get|acc)|File_i|Comm_idup)|.* started$")


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
    assert rank.uncounted == 0


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
        assert "opened world/file data.bin with the hints cb_nodes=1" in " ".join(done.stdout.split())
        assert profile[0].hints == {"world/file data.bin": "cb_nodes=1; access_style=write_once"}


# They need a second program.
ELSEWHERE = {"MPI_Comm_spawn", "MPI_Comm_accept", "MPI_Comm_connect"}


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
