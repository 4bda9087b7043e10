"""The allocation of a batch system that this process is in."""

import os
import re

PARTITION = "SLURM_JOB_PARTITION"


def partition() -> str:
    """The partition of this job; empty outside a job."""
    return os.environ.get(PARTITION, "")


def nodes_of_job() -> str:
    """The nodes as Slurm writes them, for example n[1-4]. Empty outside a job."""
    return os.environ.get("SLURM_JOB_NODELIST", "")


def tasks_on_nodes() -> list[int]:
    """The tasks on each node of the allocation. Empty: there is no allocation, or it does not say so."""
    if "SLURM_JOB_ID" not in os.environ:
        return []
    found = re.findall(r"(\d+)(?:\(x(\d+)\))?", os.environ.get("SLURM_TASKS_PER_NODE", ""))
    return [int(tasks) for tasks, nodes in found for _ in range(int(nodes or 1))]


def ranks_on_a_node(ranks: int) -> int:
    """The largest number of a launch's ranks on one node: launchers fill a node of the allocation before the next
    one."""
    return min(ranks, max(tasks_on_nodes(), default=ranks))
