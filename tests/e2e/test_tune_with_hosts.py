"""Runs of tuners use the file of hosts that a variable of the environment or a word of the launcher names."""

import os

import pytest
from culmen.bench import parts
from culmen.launch.mpi import Launcher, load
from culmen.tune.command import measured
from culmen.tune.hpl.program import Program
from harness import culmen
from test_tuned_hpl import write

pytestmark = pytest.mark.no_numbers

OPENMPI = Launcher("mpiexec", next(mpi for mpi in load() if mpi.title == "Open MPI 4"))
ONE_MACHINE = "btl_tcp_if_include"
LAUNCHER = """#!/bin/sh
echo "$OMPI_MCA_orte_default_hostfile: $*" >> LOG
exec mpiexec.openmpi "$@"
"""
RECIPE = """
[space]
n = { choices = [1, 2], initial = 1 }
[evaluator]
command = ["./app", "{n}"]
[stop]
evaluations = 2
[tune]
rounds = 3
"""


def words_of(*words):
    return " ".join(Program("/opt/xhpl", OPENMPI, {}, "its own", words).command(1, 1, "its own")[0])


@pytest.fixture
def without_job(monkeypatch):
    """Neither a batch job nor a file of hosts."""
    for name in list(os.environ):
        if name in ("SLURM_JOB_ID", "LSB_JOBID", "PBS_JOBID", parts.LAUNCHERS) or name.endswith(("_hostfile", "FILE")):
            monkeypatch.delenv(name)
    return monkeypatch


def test_words_for_one_machine_are_left_out_if_there_are_hosts(without_job):
    assert ONE_MACHINE in words_of()
    assert ONE_MACHINE not in words_of("--hostfile", "hosts")
    assert ONE_MACHINE not in words_of("--host", "a:2,b:2")
    assert measured.LAUNCHERS == parts.LAUNCHERS
    without_job.setenv(parts.LAUNCHERS, '{"OMPI_MCA_orte_default_hostfile": "hosts"}')
    assert ONE_MACHINE not in words_of()


def test_runs_of_a_command_get_the_file_of_hosts(tmp_path):
    (tmp_path / "app").write_text(f'#!/bin/sh\necho "$HYDRA_HOST_FILE ${parts.LAUNCHERS}" >> {tmp_path}/seen\n')
    (tmp_path / "app").chmod(0o755)
    (tmp_path / "app.toml").write_text(RECIPE)
    done = culmen("tune", "command", "app.toml", "--quiet", cwd=tmp_path, HYDRA_HOST_FILE="my-hosts")
    assert done.returncode == 0, done.stderr
    assert {*(tmp_path / "seen").read_text().splitlines()} == {"my-hosts "}


def test_runs_of_hpl_get_the_file_of_hosts(tmp_path):
    write(tmp_path)
    (tmp_path / "bin").mkdir()
    launcher = tmp_path / "bin" / "mpiexec"
    launcher.write_text(LAUNCHER.replace("LOG", str(tmp_path / "log")))
    launcher.chmod(0o755)
    hosts = tmp_path / "hosts"
    hosts.write_text("localhost slots=64\n")
    path = f"{launcher.parent}:{os.environ['PATH']}"
    words = ("--program", "./xhpl", "--minutes", "0.1", "--rounds", "3", "--only", "nb", "--ranks", "1")
    done = culmen("tune", "hpl", *words, cwd=tmp_path, PATH=path, OMPI_MCA_orte_default_hostfile=str(hosts))
    assert done.returncode == 0, done.stdout + done.stderr
    runs = [line for line in (tmp_path / "log").read_text().splitlines() if line.endswith("xhpl")]
    assert len(runs) > 6
    assert all(line.startswith(f"{hosts}: ") and ONE_MACHINE not in line for line in runs), runs[0]
