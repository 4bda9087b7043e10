"""A tuning of collectives as a batch job."""

from collections.abc import Callable
from pathlib import Path

from ..._core import InputError
from ...bench.jobs.asked import Cluster, Task
from ...bench.measuring import End
from . import trial as trials
from .asked import Tuning
from .results import STORE
from .tuner import study_of
from .variables_files import result_in


def task_for(
    wanted: Tuning, cluster: Cluster, arguments: list[str], conclude: Callable[[list[Path], Path, End], int]
) -> Task:
    """``arguments``: the arguments of the command in the job. Raises InputError if one job cannot do this work."""
    if wanted.groups and cluster.wanted.pilot is not None:
        raise InputError("--variables: all launches depend on each other; leave out --pilot")
    if len(cluster.partitions) > 1:
        raise InputError("one tuning file cannot be for several partitions; give one --partition")
    return Task(
        "tuning",
        ["tune", "cluster", *arguments, *wanted.plan.words()],
        max(wanted.plan.ranks),
        STORE,
        "launches",
        len(wanted.points()),
        wanted.most_s(),
        lambda store: study_of(wanted.with_variables(result_in(store.parent)), store).missing(),
        conclude,
        is_complete=lambda job: (job / trials.FILE).exists(),
    )
