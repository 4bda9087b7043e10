"""Programs under both MPIs, started as users start them: ``culmen launch``; CULMEN_EXECUTABLE names what ranks run."""

import contextlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from culmen.launch.mpi import LauncherError, find_launcher
from culmen.launch.supervision import _is_rank_zero
from harness import ROOT, Running, culmen


@pytest.fixture(params=["openmpi", "mpich"])
def mpi(request: pytest.FixtureRequest) -> str:
    """Each MPI in turn; a missing one is a failure in CI."""
    try:
        find_launcher(request.param)
    except LauncherError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))
    return request.param


@pytest.fixture
def world_program() -> Path:
    program = Path(os.environ.get("CULMEN_BUILD", ROOT / "build" / "release")) / "tests" / "world_program"
    assert program.exists(), f"{program} is not built; make test builds it"
    return program


@pytest.fixture
def launch(mpi: str, world_program: Path, tmp_path: Path) -> Callable:
    """launch(ranks, words…, NAME=value…) runs world_program to its end."""

    def run(ranks: int, *words: object, **more: str):
        variables = {"CULMEN_EXECUTABLE": str(world_program), **more}
        return culmen("launch", "-n", ranks, "--mpi", mpi, *words, cwd=tmp_path, **variables)

    return run


@pytest.fixture
def launched(mpi: str, world_program: Path, tmp_path: Path) -> Callable:
    """The same in the background."""

    def start(ranks: int, *words: str) -> Running:
        words = ("launch", "-n", str(ranks), "--mpi", mpi, *words)
        return Running(*words, cwd=tmp_path, CULMEN_EXECUTABLE=str(world_program))

    return start


@pytest.fixture
def rank_zero() -> Callable:
    """rank_zero(run) is the master's process of a launch in the background, None before it is there."""

    def of(run: Running) -> int | None:
        for pid in sorted(run.processes()):
            with contextlib.suppress(OSError):
                if _is_rank_zero(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")):
                    return pid
        return None

    return of


@pytest.fixture
def mpi4py_takes_it(mpi: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """mpi4py uses the MPI that launches it.

    Its wheel seeks MPICH by the name that Debian's does not have, and falls back on Open MPI.
    """
    if mpi == "mpich":
        known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
        library = next(line.split()[-1] for line in known.splitlines() if "libmpich.so.12 " in line)
        (tmp_path / "lib").mkdir()
        (tmp_path / "lib" / "libmpi.so.12").symlink_to(library)
        monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "lib"), prepend=os.pathsep)
        monkeypatch.setenv("MPI4PY_MPIABI", "mpich")
