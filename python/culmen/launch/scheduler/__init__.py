"""Batch jobs: the partitions of a cluster, the script of a job, and its state."""

from ..._core import InputError
from .job import Scheduler
from .local import Local
from .slurm import Slurm

SCHEDULERS = ("slurm", "local")


def scheduler_named(name: str) -> Scheduler:
    """Raises InputError for an unknown one."""
    if name not in SCHEDULERS:
        raise InputError(f"--submit {name}: there is no such scheduler; there are {' and '.join(SCHEDULERS)}")
    return Slurm() if name == "slurm" else Local()
