"""Batch jobs: the partitions of a cluster, the script of a job, and its state."""

from ..._core import InputError
from .job import Scheduler
from .local import Local
from .lsf import Lsf
from .slurm import Slurm

_SCHEDULERS: dict[str, type[Scheduler]] = {each.name: each for each in (Slurm, Lsf, Local)}


def scheduler_named(name: str) -> Scheduler:
    """Raises InputError for an unknown one."""
    if name not in _SCHEDULERS:
        raise InputError(f"--submit {name}: there is no such scheduler; there are {', '.join(_SCHEDULERS)}")
    return _SCHEDULERS[name]()
