"""Limits of a cluster for a job: refusals in one sentence, and values for the options that a user leaves out."""

import math
from collections.abc import Sequence

from ..._core import InputError
from ...base.text import did_you_mean
from .job import Partition
from .times import shown_time


def partitions_named(text: str | None, there: Sequence[Partition]) -> list[Partition]:
    """None: the default partition. Raises InputError for one that the cluster does not have, or that is not up."""
    if text is None:
        usual = [each for each in there if each.is_default] or (list(there) if len(there) == 1 else [])
        if not usual:
            raise InputError(f"this cluster has no default partition; give --partition: {_names(there)}")
        return usual[:1]
    found = []
    for word in dict.fromkeys(word.strip() for word in text.split(",") if word.strip()):
        one = next((each for each in there if each.name == word), None)
        if one is None:
            near = did_you_mean(word, [each.name for each in there])
            raise InputError(f"--partition: there is no partition '{word}' here{near or ';'} there are {_names(there)}")
        if not one.is_up:
            raise InputError(f"--partition: the partition {word} is not up, so no job starts there now")
        found.append(one)
    if not found:
        raise InputError(f"--partition is empty; there are {_names(there)}")
    return found


def _names(there: Sequence[Partition]) -> str:
    return ", ".join(each.name for each in there)


def shape_of(partition: Partition, tasks: int, nodes: int | None, per_node: int | None) -> tuple[int, int]:
    """The nodes and the tasks on each node. ``tasks``: the least number of all tasks; 0: as many as fit.

    Raises InputError if the partition does not have them.
    """
    name = f"the partition {partition.name}"
    if not partition.nodes or not partition.cores:
        raise InputError(f"{name} has no nodes")
    if per_node is not None and per_node > partition.cpus:
        raise InputError(f"--tasks-per-node {per_node}: the nodes of {name} have {partition.cpus} CPUs")
    wanted_nodes = nodes or max(1, partition.least_nodes)
    each = per_node or (min(partition.cores, math.ceil(tasks / wanted_nodes) if nodes else tasks) or partition.cores)
    count = nodes or max(partition.least_nodes, math.ceil(tasks / each))
    said = f"--nodes {count}" if nodes else f"{tasks} tasks with {each} on each node need {count} nodes"
    if count > partition.nodes:
        raise InputError(f"{said}, but {name} has {partition.nodes}")
    if count > partition.usable:
        raise InputError(f"{said}, but of the {partition.nodes} nodes of {name} only {partition.usable} are in order")
    if partition.most_nodes is not None and count > partition.most_nodes:
        raise InputError(f"{said}, but {name} allows at most {partition.most_nodes} for a job")
    if count < partition.least_nodes:
        raise InputError(f"{said}, but {name} wants at least {partition.least_nodes} for a job")
    if count * each < tasks:
        raise InputError(
            f"{tasks} ranks need more room than --nodes {count} with {each} tasks on each node; give more nodes or a "
            "larger --tasks-per-node"
        )
    return count, each


def time_for(partition: Partition, given_s: float | None, estimate_s: float) -> float:
    """The time limit of a job. ``given_s``: the user's limit. The estimate is reduced to the partition's limit; the
    same command then submits the rest.

    Raises InputError if the user's limit is longer than the partition's.
    """
    most_s = math.inf if partition.most_s is None else partition.most_s
    if given_s is not None and given_s > most_s:
        raise InputError(
            f"--time {shown_time(given_s)}: the partition {partition.name} allows at most {shown_time(most_s)}"
        )
    return given_s or min(estimate_s, most_s)
