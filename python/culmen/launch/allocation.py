"""The allocation of a batch system that this process is in: of Slurm or LSF."""

import os
import re

PARTITION = "SLURM_JOB_PARTITION"
_LSF_JOB, _LSF_QUEUE, _LSF_HOSTS = "LSB_JOBID", "LSB_QUEUE", "LSB_MCPU_HOSTS"


def partition() -> str:
    """The partition or queue of this job; empty outside a job."""
    return os.environ.get(PARTITION) or (os.environ.get(_LSF_QUEUE, "") if _LSF_JOB in os.environ else "")


def nodes_of_job() -> str:
    """The nodes, for example n[1-4] as Slurm writes them. Empty outside a job."""
    return os.environ.get("SLURM_JOB_NODELIST") or ",".join(host for host, _ in _lsf_hosts())


def tasks_on_nodes() -> list[int]:
    """The tasks on each node of the allocation. Empty: there is no allocation, or it does not say so."""
    if "SLURM_JOB_ID" not in os.environ:
        return [tasks for _, tasks in _lsf_hosts()]
    found = re.findall(r"(\d+)(?:\(x(\d+)\))?", os.environ.get("SLURM_TASKS_PER_NODE", ""))
    return [int(tasks) for tasks, nodes in found for _ in range(int(nodes or 1))]


def _lsf_hosts() -> list[tuple[str, int]]:
    """The hosts of LSF's job and their tasks: `hostA 4 hostB 4`."""
    words = os.environ.get(_LSF_HOSTS, "").split() if _LSF_JOB in os.environ else []
    return [(host, int(tasks)) for host, tasks in zip(words[::2], words[1::2], strict=False) if tasks.isdigit()]


def ranks_on_a_node(ranks: int) -> int:
    """The largest number of a launch's ranks on one node: launchers fill a node of the allocation before the next
    one."""
    return min(ranks, max(tasks_on_nodes(), default=ranks))
