"""The options of a command that can be submitted as a job. Their names are those of sbatch."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._core import InputError
from . import work

if TYPE_CHECKING:
    from ..bench.jobs.asked import Wanted

Submit = Annotated[
    str | None,
    typer.Option(
        "--submit",
        metavar="slurm|lsf|local",
        help="Submit a job to Slurm or LSF, wait for its end, and collect its results. With local, the job is a "
        "background process on this machine.",
    ),
]
JobPartition = Annotated[
    str | None,
    typer.Option(
        "--partition",
        metavar="NAME,…",
        help="Submit one job for each of these partitions, and write one table for all of them. A command that tunes "
        "takes one partition. Default: the default partition of the cluster.",
    ),
]
Nodes = Annotated[
    int | None,
    typer.Option(
        "--nodes", metavar="N", min=1, help="Number of nodes of each job. Default: the number that the ranks need."
    ),
]
TasksPerNode = Annotated[
    int | None,
    typer.Option(
        "--tasks-per-node",
        "--ntasks-per-node",
        metavar="N",
        min=1,
        help="Number of ranks on each node. By default, culmen starts the number of ranks that the measurement needs, "
        "but at most one rank on each core.",
    ),
]
TimeLimit = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="TIME",
        help="The time limit of a job, as for sbatch: 30 (minutes) or 1:30:00. By default, culmen estimates the time.",
    ),
]
Pilot = Annotated[
    int | None,
    typer.Option(
        "--pilot",
        metavar="N",
        min=1,
        help="First measure N launches or routes in a short job. From their durations, culmen estimates the time limit "
        "of a second job. The second job makes the other measurements.",
    ),
]
AtMost = Annotated[
    int | None,
    typer.Option(
        "--at-most",
        metavar="N",
        min=1,
        help="End after N launches or routes. To continue, type the same command without this option.",
    ),
]
Exclusive = Annotated[bool, typer.Option("--exclusive", help="While the job runs, no other job uses its nodes.")]
Account = Annotated[str | None, typer.Option("--account", metavar="NAME", help="The account of the job.")]
Qos = Annotated[
    str | None, typer.Option("--qos", metavar="NAME", help="The quality of service of the job. Not for LSF.")
]
SiteFile = Annotated[
    Path | None,
    typer.Option(
        "--site",
        metavar="FILE.toml",
        help="A file with modules, variables and shell lines for jobs. Default: ~/.config/culmen/site.toml, if this "
        "file exists.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="With --submit: only print the batch scripts.")]
DryTuning = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Show the parameters, the limits and the command, and run nothing. With --submit: only print the batch "
        "script.",
    ),
]
_SCRATCH = (
    "Keep the store in this local folder. After each launch, culmen copies the store to the folder for the results. "
    "Use this option if the folder for the results is on a network file system."
)
Scratch = Annotated[
    Path | None,
    typer.Option(
        "--scratch",
        metavar="FOLDER",
        help=f"{_SCRATCH} With --submit, set the key scratch in the site file instead.",
    ),
]
ScratchHere = Annotated[Path | None, typer.Option("--scratch", metavar="FOLDER", help=_SCRATCH)]  # without --submit
# The options of every job, for ``with_settings``. None: not given.
JOB: dict[str, Any] = {
    "submit": Submit,
    "partition": JobPartition,
    "nodes": Nodes,
    "tasks_per_node": TasksPerNode,
    "time": TimeLimit,
    "exclusive": Exclusive,
    "account": Account,
    "qos": Qos,
    "site": SiteFile,
}
_OF_JOBS = (*JOB, "dry_run", "pilot", "at_most", "scratch", "output", "overwrite", "quiet")


def job_of(
    job: Mapping[str, Any], dry_run: bool, pilot: int | None = None, at_most: int | None = None
) -> "Wanted | None":
    """``job``: values of the options in JOB. None: no job. Raises InputError for options of a job without --submit."""
    options = {name: value for name, value in job.items() if name != "submit"}
    if job["submit"] is None:
        for name, value in {**options, "dry_run": dry_run or None, "pilot": pilot}.items():
            if value is not None:
                raise InputError(
                    f"--{name.replace('_', '-')} is an option of a job; add --submit slurm or --submit lsf"
                )
        return None
    if at_most is not None:
        raise InputError("--at-most is not for jobs; to measure few points in a first job, write --pilot")
    if pilot is not None and job["time"] is not None:
        raise InputError("--pilot estimates the time limit of the job, and --time sets it; give only one of them")
    options["exclusive"] = bool(job["exclusive"])
    return work.submit.Wanted(job["submit"], **options, dry_run=dry_run, pilot=pilot)


def job_of_tuning(job: Mapping[str, Any], dry_run: bool) -> "Wanted | None":
    """As ``job_of``, for a command whose --dry-run also makes sense without a job."""
    return job_of(job, dry_run and job["submit"] is not None)


def _most_in(numbers: str | None) -> int | None:
    """The largest number of an option such as 2,4: a job needs room for it. None: there is none."""
    return max((int(word) for word in re.findall(r"\d+", numbers or "")), default=None)


def with_room(job: Mapping[str, Any], node_counts: str | None, ranks_per_node: str | None) -> Mapping[str, Any]:
    """With the nodes and the tasks per node of the job. If they were left out, the largest numbers that are to be
    measured."""
    if job["submit"] is None:
        return job
    nodes, tasks_per_node = job["nodes"] or _most_in(node_counts), job["tasks_per_node"] or _most_in(ranks_per_node)
    return {**job, "nodes": nodes, "tasks_per_node": tasks_per_node}


def typed(context: typer.Context, without: tuple[str, ...]) -> list[str]:
    """The options that the user typed, as words, without the options for jobs, folders and output."""
    words = []
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if name in (*_OF_JOBS, *without) or source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[name]
        for each in value if isinstance(value, (list, tuple)) else [value]:
            words += [parameter.opts[0]] if each is True else [parameter.opts[0], str(each)]
    return words
