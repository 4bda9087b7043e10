"""Evaluators that use MPI themselves, on the ranks of a launch."""

import json
import re
import shutil
from pathlib import Path

import pytest
from harness import PYTHON, culmen, outcomes
from profiles import of_mpi4py

pytestmark = pytest.mark.either("mpi")

SPACE = "[space]\nx = { lower = -5, upper = 5 }\n[stop]\nevaluations = 8\n"
PROGRAM = """
from mpi4py import MPI

size = MPI.COMM_WORLD.allreduce(1)
if MPI.COMM_WORLD.rank == 0:
    print(size)
"""


def values(mpi, folder, evaluator):
    (folder / "study.toml").write_text(f"{SPACE}[evaluator]\n{evaluator}\n")
    done = culmen("launch", "-n", 3, "--mpi", mpi, "run", "study.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    told = outcomes(folder / "study.db").values()
    assert {status for status, _, _ in told} == {"ok"}, culmen("status", "study.db", cwd=folder).stdout
    return [value for _, value, _ in told]


def test_a_function_may_load_mpi4py(mpi, tmp_path):
    (tmp_path / "model.py").write_text("from mpi4py import MPI\n\ndef f(p):\n    return MPI.COMM_WORLD.allreduce(1)\n")
    assert values(mpi, tmp_path, 'python = "model.py:f"') == 8 * [1]


def test_a_command_may_start_ranks_of_its_own(mpi, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    line = culmen("launch", "-n", 2, "--mpi", mpi, "--dry-run", "run", "x", cwd=tmp_path).stdout.split()
    words = ["env", *line[: line.index("-n") + 2], PYTHON, str(tmp_path / "program.py")]
    assert values(mpi, tmp_path, f"command = {json.dumps(words)}") == 8 * [2]


def test_the_command_of_the_page_runs(mpi, tmp_path):
    """With the mpiexec of the tested MPI.

    The program calls MPI_Init. If a program without MPI_Init ends at once, the mpiexec of MPICH 4.0 may write to a
    proxy that has ended, and die of SIGPIPE.
    """
    page = (Path(__file__).parents[2] / "docs/howto/mpi.md").read_text()
    (command,) = re.findall(r"^ {4,}(command = .*)$", page, re.MULTILINE)
    simulation = tmp_path / "simulation"
    simulation.write_text(f"#!{PYTHON}\n{PROGRAM}")
    simulation.chmod(0o755)
    command = command.replace('"mpiexec"', json.dumps(shutil.which(f"mpiexec.{mpi}") or "mpiexec"))
    allowed = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe")
    variables = dict.fromkeys(allowed, "1") | of_mpi4py(mpi)
    settings = ", ".join(f"{name} = {json.dumps(value)}" for name, value in variables.items())
    assert values(mpi, tmp_path, f"{command}\nenvironment = {{ {settings} }}") == 8 * [2]


def test_ranks_share_the_cpus_among_the_threads_of_libraries(mpi, tmp_path, share_of_two):
    (tmp_path / "model.py").write_text("import os\n\ndef f(p):\n    return int(os.environ['OMP_NUM_THREADS'])\n")
    assert values(mpi, tmp_path, 'python = "model.py:f"') == 8 * [share_of_two]


def test_variables_can_be_removed(mpi, tmp_path):
    words = json.dumps(["sh", "-c", "test -z ${HOME+set} && echo 1"])
    assert values(mpi, tmp_path, f"command = {words}\nenvironment = {{ HOME = false }}") == 8 * [1]


def test_an_evaluation_inherits_nothing_that_the_launch_has_set(mpi, tmp_path):
    """A program with another MPI than the launch's would otherwise load the wrong one, or use its network only."""
    names = ("MPI4PY_MPIABI", "OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_oob_tcp_if_include", "CULMEN_LAUNCH_SETS")
    words = json.dumps(["sh", "-c", f'test -z "{"".join(f"${name}" for name in names)}" && echo 1'])
    assert values(mpi, tmp_path, f"command = {words}") == 8 * [1]


def test_an_evaluation_keeps_what_the_user_has_set(mpi, tmp_path, monkeypatch):
    monkeypatch.setenv("MPI4PY_MPIABI", mpi)
    words = json.dumps(["sh", "-c", f'test "$MPI4PY_MPIABI" = {mpi} && echo 1'])
    assert values(mpi, tmp_path, f"command = {words}") == 8 * [1]
