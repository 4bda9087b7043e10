"""Programs of another MPI than that of the command: they run as always, and are not measured."""

import json
import sys

import pytest
from culmen.profile.recorded import read_folder
from harness import HANGS_S, culmen
from profiles import AS_ROOT, built, counted, of_mpi4py, profiled, started, traffic_of

pytestmark = pytest.mark.either("mpi")

OTHER = {"openmpi": "mpich", "mpich": "openmpi"}
NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}
MPI4PY = """
from mpi4py import MPI
world = MPI.COMM_WORLD
halves = world.Split(world.rank % 2)
assert world.allreduce(1) == 2 and halves.size == 1
other = 1 - world.rank
assert world.sendrecv(world.rank, other, source=other) == other
print("all is right", flush=True)
"""


def script_of(folder, *commands: list[str]) -> list[str]:
    """A script that runs these commands with two ranks, one after another."""
    lines = (" ".join("2" if word == "RANKS" else word for word in command) for command in commands)
    (folder / "script").write_text("set -e\n" + "\n".join(lines) + "\n")
    return ["sh", "script"]


@pytest.fixture
def both(mpi, tmp_path) -> list[str]:
    """A script that runs a program of the other MPI, and then one of this MPI. Its last word tells the MPI."""
    folder = tmp_path / "other"
    folder.mkdir()
    own = built(mpi, tmp_path, "traffic_program.c")
    return [*script_of(tmp_path, built(OTHER[mpi], folder, "traffic_program.c"), own), own[0]]


def test_a_program_of_another_mpi_runs_and_is_not_measured(mpi, tmp_path, both):
    done = profiled(tmp_path, both, 2)
    assert done.returncode == 0, done.stderr
    assert counted(read_folder(tmp_path / "out")) == traffic_of(2)
    said = f"culmen: this program uses {NAMES[OTHER[mpi]]}, not {NAMES[mpi]}; it runs without culmen\n"
    assert done.stderr.count(said) == 1
    for shown in (done, culmen("profile", "report", "out", cwd=tmp_path)):
        assert f"culmen did not measure 2 ranks that use {NAMES[OTHER[mpi]]}." in " ".join(shown.stdout.split())
    assert culmen("profile", "report", "out", "--html", cwd=tmp_path).returncode == 0
    assert f"<p>culmen did not measure 2 ranks that use {NAMES[OTHER[mpi]]}." in (
        tmp_path / "out/profile.html"
    ).read_text(encoding="utf-8")
    found = json.loads(culmen("profile", "report", "out", "--json", cwd=tmp_path).stdout)
    assert found["unmeasured"] == {NAMES[OTHER[mpi]]: 2}


def test_its_exit_code_is_kept(mpi, tmp_path):
    other = built(OTHER[mpi], tmp_path, "traffic_program.c")
    done = profiled(tmp_path, [*script_of(tmp_path, [*other, "three"]), started(mpi)[0]], 2)
    assert done.returncode == 3, done.stderr
    assert f"culmen did not measure 2 ranks that use {NAMES[OTHER[mpi]]}." in done.stderr
    said = culmen("profile", "report", "out", cwd=tmp_path)
    assert said.returncode == 2
    assert f"culmen did not measure 2 ranks that use {NAMES[OTHER[mpi]]}." in said.stderr


@pytest.mark.parametrize(("what", "code"), [("profile", 0), ("autotune", 2)])  # the latter wants a tuning file
def test_a_program_that_loads_another_mpi_late_runs(mpi, tmp_path, what, code):
    (tmp_path / "late.py").write_text(MPI4PY)
    words = script_of(tmp_path, [*started(OTHER[mpi]), sys.executable, "late.py"])
    variables = AS_ROOT | of_mpi4py(OTHER[mpi])
    done = culmen(what, "--", *words, started(mpi)[0], cwd=tmp_path, timeout=HANGS_S, **variables)
    assert done.returncode == code, done.stderr
    assert done.stdout.count("all is right") == 2
    assert f"culmen: this program uses {NAMES[OTHER[mpi]]}, not {NAMES[mpi]};" in done.stderr


def test_a_program_of_another_mpi_runs_without_the_tuner(mpi, tmp_path, both):
    done = culmen("autotune", "--", *both, cwd=tmp_path, timeout=HANGS_S, **AS_ROOT)
    assert done.returncode == 0, done.stderr
    assert f"culmen: this program uses {NAMES[OTHER[mpi]]}, not {NAMES[mpi]}; it runs without culmen" in done.stderr
    assert "tuned" in done.stdout
