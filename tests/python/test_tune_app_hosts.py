"""`culmen tune app`: the collectives must be measured on the machines on which the program runs."""

import socket
from types import SimpleNamespace

import pytest
from culmen.launch.mpi import Launcher, load
from culmen.tune.app.program import check_machines

from culmen import InputError

HERE = socket.gethostname()


def launchers():
    return [Launcher("mpiexec", mpi) for mpi in load()]


def ranks_on(*hosts):
    return [SimpleNamespace(host=host) for host in hosts]


@pytest.mark.parametrize("launcher", launchers(), ids=lambda launcher: launcher.mpi.title)
def test_a_program_on_other_machines_needs_a_job_or_a_file_of_hosts(launcher):
    said = f"the program ran on b1, b2, b3, …, but .* on this machine only.*variable {launcher.mpi.host_file}=FILE"
    for hosts in ((HERE, "b1", "b2", "b3", "b4", "b4"), ("b4", "b3", "b2", "b1")):
        with pytest.raises(InputError, match=said):
            check_machines(ranks_on(*hosts), launcher, {})
    for variable in (launcher.mpi.host_file, "SLURM_JOB_ID", "LSB_JOBID", "PBS_JOBID"):
        check_machines(ranks_on(HERE, "b1"), launcher, {variable: "1"})


def test_a_program_on_this_machine_needs_none():
    check_machines(ranks_on(HERE, HERE), launchers()[0], {})
