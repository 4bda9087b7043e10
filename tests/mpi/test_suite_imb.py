"""The real IMB-MPI1 of Intel, from the wheel impi-rt of PyPI, under MPICH: both have the same binary interface."""

import csv
import os
import shutil
import sys
from pathlib import Path

import pytest
from culmen.launch.mpi import find_launcher
from harness import HANGS_S, culmen

COLLECTIVES = ("barrier", "bcast", "allreduce", "reduce_scatter")


@pytest.fixture
def imb(tmp_path, monkeypatch):
    """A folder with the program, which finds MPICH."""
    program = shutil.which("IMB-MPI1", path=os.pathsep.join([os.environ["PATH"], f"{sys.prefix}/bin"]))
    if program is None:
        pytest.skip("there is no IMB-MPI1; the wheel impi-rt has it")
    libraries = [*Path("/usr/lib").glob("*/libmpich.so.12"), *Path("/usr/lib64").glob("libmpich.so.12")]
    if not libraries:
        pytest.skip("there is no libmpich.so.12")
    (tmp_path / "abi").mkdir()
    (tmp_path / "abi/libmpi.so.12").symlink_to(libraries[0])
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "abi"))
    return Path(program).resolve().parent


def test_imb_measures_the_algorithms_of_mpich(imb, tmp_path):
    if not find_launcher("mpich").mpi.title.startswith("MPICH"):
        pytest.skip("the launcher is not MPICH's")
    words = ("--with", imb, "--mpi", "mpich", "--ranks", "2", "--sizes", "0,8,4K", "--repetitions", "20")
    done = culmen("bench", "collectives", *words, "--collectives", ",".join(COLLECTIVES), cwd=tmp_path, timeout=HANGS_S)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "bench-collectives/collectives.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    measured = {(row["collective"], row["ranks"], row["size"]) for row in rows if row["time_s"]}
    for collective in COLLECTIVES:
        sizes = ["0"] if collective == "barrier" else ["0", "8", "4096"]
        assert {each for each in measured if each[0] == collective} == {
            (collective, ranks, size) for ranks in "2" for size in sizes
        }
    assert {"binomial", "default"} <= {row["algorithm"] for row in rows if row["collective"] == "bcast"}
    assert all(float(row["time_s"]) >= 0 for row in rows if row["time_s"])
