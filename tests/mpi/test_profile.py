"""Profiles of a program that knows its own traffic, and of programs that go wrong."""

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from culmen.launch.mpi import find_launcher
from culmen.launch.mpi4py import variables_for_mpi4py
from culmen.profile.recorded import Rank, read_folder
from harness import HANGS_S, culmen

from culmen import _core

SOURCE = Path(__file__).with_name("traffic_program.c")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl_tcp_if_include": "lo"}
WAYS = {"openmpi": ["--oversubscribe", "--mca", "oob_tcp_if_include", "lo"], "mpich": ["-iface", "lo"]}


@pytest.fixture
def traffic(mpi, tmp_path) -> list[str]:
    """The words that run the program, without its own."""
    compiler = shutil.which(f"mpicc.{mpi}")
    if compiler is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"there is no mpicc.{mpi}")
    program = tmp_path / "traffic"
    subprocess.run([compiler, "-O1", "-Wno-stringop-overflow", str(SOURCE), "-o", str(program)], check=True)
    return [find_launcher(mpi).program, *WAYS[mpi], "-n", "RANKS", str(program)]


def profiled(tmp_path, traffic, ranks, *words, folder="out"):
    command = [str(ranks) if word == "RANKS" else word for word in traffic]
    return culmen("profile", "--output", folder, "--", *command, *words, cwd=tmp_path, timeout=HANGS_S, **AS_ROOT)


def counted(ranks: list[Rank]) -> dict[tuple[str, str], tuple[int, int]]:
    """Calls and bytes over all ranks by function and communicator."""
    calls, amount = Counter(), Counter()
    for rank in ranks:
        for each in rank.calls:
            calls[each.function, each.communicator] += each.calls
            amount[each.function, each.communicator] += each.bytes
    return {key: (calls[key], amount[key]) for key in calls}


def expected(ranks: int) -> dict[tuple[str, str], tuple[int, int]]:
    """As traffic_program.c says."""
    out = {
        ("MPI_Sendrecv", "world"): (10 * ranks, 640 * ranks),
        ("MPI_Irecv", "world"): (5 * ranks, 80 * ranks),
        ("MPI_Isend", "world"): (5 * ranks, 80 * ranks),
        ("MPI_Waitall", ""): (5 * ranks, 0),
        ("MPI_Send", "world"): (ranks, 0),
        ("MPI_Comm_split", "world"): (ranks, 0),
    }
    halves = {f"world/split 1 colour {k}": len(range(k, ranks, 2)) for k in (0, 1)}
    for name, n in {"world": ranks, **halves}.items():
        out |= {
            ("MPI_Bcast", name): (3 * n, 192 * n),
            ("MPI_Allreduce", name): (8 * n, 456 * n),
            ("MPI_Reduce", name): (n, 64 * n),
            ("MPI_Gather", name): (n, 64 * n),
            ("MPI_Allgather", name): (n, 64 * n),
            ("MPI_Scatter", name): (n, 64 * n),
            ("MPI_Alltoall", name): (n, 8 * n * n),
            ("MPI_Alltoallv", name): (n, 16 * n * n),
            ("MPI_Barrier", name): (n, 0),
        }
    for name, n in halves.items():
        out |= {("MPI_Comm_dup", name): (n, 0), ("MPI_Barrier", f"{name}/dup 1"): (n, 0)}
    return out


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_a_profile_says_what_the_program_knows(traffic, tmp_path, ranks):
    done = profiled(tmp_path, traffic, ranks)
    assert done.returncode == 0, done.stderr
    profile = read_folder(tmp_path / "out")
    assert [rank.rank for rank in profile] == list(range(ranks))
    assert counted(profile) == expected(ranks)
    for rank in profile:
        in_mpi = sum(each.seconds for each in rank.calls)
        assert 0 < in_mpi <= rank.seconds
        assert all(0 < each.least_s * each.calls <= each.seconds * 1.001 for each in rank.calls)
        assert all(each.seconds <= each.most_s * each.calls * 1.001 for each in rank.calls)
        assert rank.uncounted == 0
    assert f"{ranks} ranks on 1 node" in " ".join(done.stdout.split())
    assert "MPI_Allreduce" in done.stdout
    again = culmen("profile", "report", "out", cwd=tmp_path)
    assert again.stdout.strip() in done.stdout


def test_peers_mean_the_same_under_each_mpi(traffic, tmp_path):
    profiled(tmp_path, traffic, 2)
    peers = {(each.function, each.peer) for each in read_folder(tmp_path / "out")[0].calls}
    assert {("MPI_Send", -1), ("MPI_Isend", 1), ("MPI_Bcast", 1), ("MPI_Reduce", 0), ("MPI_Allreduce", -1)} <= peers


def test_the_programs_exit_code_is_kept(traffic, tmp_path):
    assert profiled(tmp_path, traffic, 2, "three").returncode == 3


def test_a_crash_leaves_what_was_counted(traffic, tmp_path):
    done = profiled(tmp_path, traffic, 2, "crash")
    assert done.returncode != 0
    profile = read_folder(tmp_path / "out")
    crashed = next(rank for rank in profile if rank.rank == 1)
    assert crashed.seconds is None
    assert counted([crashed])["MPI_Sendrecv", "world"] == (10, 640)
    assert "did not reach MPI_Finalize" in " ".join(done.stdout.split())


def test_a_former_profile_is_not_overwritten(traffic, tmp_path):
    assert profiled(tmp_path, traffic, 2).returncode == 0
    done = profiled(tmp_path, traffic, 2)
    assert done.returncode == 2
    assert done.stderr == "culmen: out has a profile already; choose another folder, or remove it\n"


def test_a_folder_that_cannot_be_made_is_said(traffic, tmp_path):
    (tmp_path / "file").write_text("")
    done = profiled(tmp_path, traffic, 2, folder="file/out")
    assert done.returncode == 2
    assert done.stderr == "culmen: the folder file/out cannot be made: Not a directory; choose another --output\n"


MPI4PY = """
import numpy
from mpi4py import MPI

numbers = numpy.ones(1000)
for _ in range(10):
    MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, numbers)
MPI.COMM_WORLD.Barrier()
"""


def test_mpi4py_is_counted_whatever_names_it_calls(mpi, tmp_path):
    (tmp_path / "script.py").write_text(MPI4PY)
    launcher = find_launcher(mpi)
    variables = variables_for_mpi4py(
        launcher.mpi.module, Path(_core.__file__).parent / "lib" / f"libculmen_mpi_{mpi}.so"
    )
    words = ("--", launcher.program, *WAYS[mpi], "-n", 2, sys.executable, "script.py")
    done = culmen("profile", "--output", "out", *words, cwd=tmp_path, **AS_ROOT, **variables)
    assert done.returncode == 0, done.stderr
    profile = read_folder(tmp_path / "out")
    assert counted(profile) == {("MPI_Allreduce", "world"): (20, 160_000), ("MPI_Barrier", "world"): (2, 0)}
    assert profile[0].program.endswith("script.py")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "a command after -- is missing; example: culmen profile -- mpiexec -n 4 ./app"),
        (["no-such-program"], "the program 'no-such-program' was not found; write the path of a program after --"),
        (["true"], "'true' names neither a launcher of an MPI that culmen knows nor a program that links one"),
        (["report"], "write the folder of one profile: culmen profile report FOLDER"),
        (["report", "nowhere"], "nowhere has no profile; `culmen profile -- mpiexec -n 4 ./app` writes one"),
    ],
)
def test_wrong_words_are_one_sentence(words, said, tmp_path):
    done = culmen("profile", "--", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"culmen: {said}")
    assert len(done.stderr.splitlines()) == 1


def test_a_program_that_is_no_launcher_is_not_run_to_find_its_mpi(tmp_path):
    program = tmp_path / "mpi_mine"
    program.write_text("#!/bin/sh\ntouch was_run\n")
    program.chmod(0o755)
    assert culmen("profile", "--", program, cwd=tmp_path).returncode == 2
    assert not (tmp_path / "was_run").exists()


def test_a_program_without_mpi_is_said(mpi, tmp_path):
    launcher = find_launcher(mpi).program
    done = culmen("profile", "--", launcher, *WAYS[mpi], "-n", 2, "true", cwd=tmp_path, **AS_ROOT)
    assert done.returncode == 2
    assert "left no profile: it did not call MPI_Init" in done.stderr
