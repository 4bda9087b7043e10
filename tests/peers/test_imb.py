"""Intel's own benchmark, from PyPI, measures the collectives of MPICH, which has the same binary interface."""

import csv
import ctypes.util
import subprocess
import sys
import zipfile

import pytest
from culmen.launch.mpi import LauncherError, find_launcher
from harness import HANGS_S, culmen


@pytest.fixture(scope="module")
def imb(tmp_path_factory):
    """A folder with IMB-MPI1, and the variables with which it finds MPICH."""
    try:
        find_launcher("mpich")
    except LauncherError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("imb")
    words = ["download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder, "impi-rt"]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        [name] = [name for name in files.namelist() if name.endswith("/bin/IMB-MPI1")]
        (folder / "IMB-MPI1").write_bytes(files.read(name))
    (folder / "IMB-MPI1").chmod(0o755)
    library = ctypes.util.find_library("mpich")
    assert library is not None
    said = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    path = next(line.split("=> ")[1] for line in said.splitlines() if line.strip().startswith(library))
    (folder / "libmpi.so.12").symlink_to(path)
    return folder, {"LD_LIBRARY_PATH": str(folder)}


@pytest.mark.parametrize("collective", ["bcast", "allreduce", "barrier"])
def test_imb_measures_each_algorithm(imb, collective, tmp_path):
    folder, variables = imb
    words = ["--with", folder, "--collectives", collective, "--ranks", 2, "--sizes", "8,1000", "--repetitions", 50]
    done = culmen("bench", "collectives", *words, "--mpi", "mpich", cwd=tmp_path, timeout=HANGS_S, **variables)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "bench-collectives/collectives.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if not row["unavailable"]]
    assert {row["size"] for row in rows} == ({"0"} if collective == "barrier" else {"8", "1000"})
    assert len({row["algorithm"] for row in rows}) >= 2
    assert all(float(row["time_s"]) > 0 and row["verified"] == "1" for row in rows)
