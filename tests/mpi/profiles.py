"""Programs that know their own traffic, and their profiles."""

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from culmen.launch.mpi import find_launcher
from culmen.launch.mpi4py import variables_for_mpi4py
from culmen.profile.recorded import Rank
from harness import HANGS_S, ROOT, culmen

from culmen import _core

AS_ROOT = {
    **{f"{name}_ALLOW_RUN_AS_ROOT{end}": "1" for name in ("OMPI", "PRTE") for end in ("", "_CONFIRM")},
    **{"OMPI_MCA_btl_tcp_if_include": "lo", "PMIX_MCA_ptl_tcp_if_include": "lo"},
}

Counted = dict[tuple[str, str], tuple[int, int]]


def built(mpi: str, folder: Path, source: str, *flags: str) -> list[str]:
    """The words that run a program of this folder, without its own; RANKS stands for their number."""
    compiler = f"{'mpifort' if source.endswith('.F90') else 'mpicc'}.{mpi}"
    if shutil.which(compiler) is None or (source.endswith(".F90") and shutil.which("gfortran") is None):
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"there is no {compiler}, or no compiler behind it")
    program = folder / Path(source).stem
    path = Path(__file__).parent / source
    subprocess.run([compiler, "-O1", "-w", f"-I{ROOT / 'src'}", *flags, path, "-o", program], check=True, cwd=folder)
    return [*started(mpi), str(program)]


def started(mpi: str) -> list[str]:
    """The words before a program."""
    return [find_launcher(mpi).program, *flags_of(mpi), "-n", "RANKS"]


def flags_of(mpi: str) -> list[str]:
    """Those of the launcher for more ranks than cores, on this machine alone."""
    known = find_launcher(mpi).mpi
    return [flag for words in (known.oversubscribed, known.one_machine) for flag in words.flags]


def of_mpi4py(mpi: str) -> dict[str, str]:
    """The variables with which mpi4py uses this MPI."""
    module = Path(_core.__file__).parent / "lib" / f"libculmen_mpi_{mpi}.so"
    return variables_for_mpi4py(find_launcher(mpi).mpi.module, module)


def profiled(tmp_path: Path, words: list[str], ranks: int, *more: str, folder: str = "out", **variables: str):
    command = [str(ranks) if word == "RANKS" else word for word in words]
    out = ("--output", folder, "--", *command, *more)
    return culmen("profile", *out, cwd=tmp_path, timeout=HANGS_S, **AS_ROOT, **variables)


def counted(ranks: list[Rank]) -> Counted:
    """Calls and bytes over all ranks by function and communicator."""
    calls, amount = Counter(), Counter()
    for rank in ranks:
        for each in rank.calls:
            calls[each.function, each.communicator] += each.calls
            amount[each.function, each.communicator] += each.bytes
    return {key: (calls[key], amount[key]) for key in calls}


def traffic_of(ranks: int) -> Counted:
    """As traffic_program.c and traffic_program.F90 say."""
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
        out |= {("MPI_Comm_free", name): (n, 0), ("MPI_Comm_free", f"{name}/dup 1"): (n, 0)}
    return out
