"""The options of a command that can be submitted as a job. Their names are those of sbatch."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
Scratch = Annotated[
    Path | None,
    typer.Option(
        "--scratch",
        metavar="FOLDER",
        help="Keep the store in this local folder. After each launch, culmen copies the store to the folder for the "
        "results. Use this option if the folder for the results is on a network file system. With --submit, set the "
        "key scratch in the site file instead.",
    ),
]
_OF_JOBS = (
    "submit", "partition", "nodes", "tasks_per_node", "time", "exclusive", "account", "qos", "site", "dry_run",
    "pilot", "at_most", "scratch", "output", "overwrite", "quiet",
)  # fmt: skip


def job_of(
    submit: str | None,
    partition: str | None,
    nodes: int | None,
    tasks_per_node: int | None,
    time: str | None,
    exclusive: bool,
    account: str | None,
    qos: str | None,
    site: Path | None,
    dry_run: bool,
    pilot: int | None = None,
    at_most: int | None = None,
) -> "Wanted | None":
    """None: no job. Raises InputError for options of a job without --submit."""
    given = {
        "partition": partition, "nodes": nodes, "tasks-per-node": tasks_per_node, "time": time, "account": account,
        "exclusive": exclusive or None, "qos": qos, "site": site, "dry-run": dry_run or None,
        "pilot": pilot,
    }  # fmt: skip
    if submit is None:
        for name, value in given.items():
            if value is not None:
                raise InputError(f"--{name} is an option of a job; add --submit slurm or --submit lsf")
        return None
    if at_most is not None:
        raise InputError("--at-most is not for jobs; to measure few points in a first job, write --pilot")
    if pilot is not None and time is not None:
        raise InputError("--pilot estimates the time limit of the job, and --time sets it; give only one of them")
    return work.submit.Wanted(
        submit, partition, nodes, tasks_per_node, time, exclusive, account, qos, site, dry_run, pilot
    )


def job_of_tuning(
    submit: str | None,
    partition: str | None,
    nodes: int | None,
    tasks_per_node: int | None,
    time: str | None,
    exclusive: bool,
    account: str | None,
    qos: str | None,
    site: Path | None,
    dry_run: bool,
) -> "Wanted | None":
    """As ``job_of``, for a command whose --dry-run also makes sense without a job."""
    given = (submit, partition, nodes, tasks_per_node, time, exclusive, account, qos, site)
    return job_of(*given, dry_run and submit is not None)


def _most_in(numbers: str | None) -> int | None:
    """The largest number of an option such as 2,4: a job needs room for it. None: there is none."""
    return max((int(word) for word in re.findall(r"\d+", numbers or "")), default=None)


def room_for(
    submit: str | None,
    nodes: int | None,
    tasks_per_node: int | None,
    node_counts: str | None,
    ranks_per_node: str | None,
) -> tuple[int | None, int | None]:
    """The nodes and the tasks per node of a job. If they were left out, the largest numbers that are to be measured."""
    if submit is None:
        return nodes, tasks_per_node
    return nodes or _most_in(node_counts), tasks_per_node or _most_in(ranks_per_node)


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
