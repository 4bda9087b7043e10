"""The allocation of a batch system that this process is in."""

import os
import re

PARTITION = "SLURM_JOB_PARTITION"


def partition() -> str:
    """Empty outside a job."""
    return os.environ.get(PARTITION, "")


def tasks_per_node() -> int:
    """The most tasks on a node of the allocation; 0: there is no allocation, or it does not say so."""
    found = re.findall(r"(\d+)(?:\(x\d+\))?", os.environ.get("SLURM_TASKS_PER_NODE", ""))
    return max(map(int, found), default=0) if "SLURM_JOB_ID" in os.environ else 0


def ranks_on_a_node(ranks: int) -> int:
    """Of a launch: launchers fill a node of the allocation before the next one."""
    return min(ranks, tasks_per_node() or ranks)
