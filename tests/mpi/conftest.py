"""Programs under both MPIs, started as users start them: ``culmen launch``; CULMEN_EXECUTABLE names what ranks run."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from culmen.launch.mpi import LauncherError, find_launcher
from culmen.launch.rank_watch import rank_in
from harness import ROOT, Running, culmen

ON_NODES = """#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
export CULMEN_NODE_SHOWN="node$((rank / RANKS_A_NODE)) 1 2 3"
exec "$@"
"""


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
                if rank_in(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")) == 0:
                    return pid
        return None

    return of


@pytest.fixture
def on_nodes(mpi: str, tmp_path: Path) -> Callable:
    """on_nodes(ranks, ranks_a_node, words…): the words of a launch on ranks / ranks_a_node nodes. ``program``: culmen
    by default."""

    def words(ranks: int, ranks_a_node: int, *arguments: str, program: str = "culmen") -> list[str]:
        script = tmp_path / "on_nodes"
        script.write_text(ON_NODES.replace("RANKS_A_NODE", str(ranks_a_node)))
        script.chmod(0o755)
        return ["launch", "-n", str(ranks), "--mpi", mpi, str(script), program, *arguments]

    return words
