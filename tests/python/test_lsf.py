"""Jobs of LSF: what its commands print, as its manual shows it, the script, and the allocation of a job."""

from pathlib import Path

import mini_lsf
import pytest
from culmen.launch import allocation
from culmen.launch.scheduler.job import Partition, Phase, Place, Request
from culmen.launch.scheduler.lsf import Lsf
from culmen.launch.scheduler.lsf_texts import hosts_in, members_in, partition_of, place_in_jobs, queues_in

from culmen import InputError

# Two limits in a line, and a limit in minutes of a host.
TWO_LIMITS = mini_lsf.QUEUES.rpartition("QUEUE: ")[2]


def partitions():
    hosts = hosts_in(mini_lsf.BHOSTS, mini_lsf.LSHOSTS)
    groups = members_in(mini_lsf.BMGROUP)
    return [partition_of(queue, hosts, groups) for queue in queues_in(mini_lsf.QUEUES)]


def test_queues_give_partitions_with_what_jobs_may_have():
    normal, short, shut = partitions()
    assert normal == Partition("normal", True, True, 3, 2, 4, 4), "a host without a limit has a slot for each CPU"
    assert short == Partition("short", True, False, 2, 2, 8, 8, most_s=180), "a full host is in order"
    assert (shut.is_up, shut.nodes, shut.most_s) == (False, 2, 5400)
    assert queues_in("No queue found\n") == []
    with pytest.raises(InputError, match="bqueues -l printed a text that culmen cannot read"):
        queues_in("QUEUE: strange\n  -- it has no status\n")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("all", {"hostA", "hostB", "hostC"}),
        ("all ~hostB", {"hostA", "hostC"}),
        ("all ~small/", {"hostC"}),
        ("small/ hostC+3", {"hostA", "hostB", "hostC"}),
        ("hostA! others", {"hostA", "hostB", "hostC"}),
        ("gone/", set()),
    ],
)
def test_a_queue_names_hosts_and_groups(words, names):
    (queue,) = queues_in("QUEUE: " + TWO_LIMITS.replace("hostA+2 hostB", words))
    hosts = hosts_in(mini_lsf.BHOSTS, mini_lsf.LSHOSTS)
    assert partition_of(queue, hosts, members_in(mini_lsf.BMGROUP)).nodes == len(names)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("PEND|-|-|-|-|Not enough hosts;", Place(Phase.PENDING, "PENDING", "Not enough hosts")),
        ("PSUSP|-|-|-|-|-", Place(Phase.PENDING, "PENDING")),
        ("RUN|-|-|12 second(s)|4*hostA:4*hostB|-", Place(Phase.RUNNING, "RUNNING", "", 12, "hostA,hostB")),
        ("UNKWN|-|-|12 second(s)|hostA|-", Place(Phase.RUNNING, "UNKWN", "", 12, "hostA")),
        ("DONE|-|-|65 second(s)|hostA|-", Place(Phase.ENDED, "COMPLETED", "", 65, "hostA", 0)),
        ("EXIT|3|-|65 second(s)|hostA|-", Place(Phase.ENDED, "FAILED", "", 65, "hostA", 3)),
        (
            "EXIT|140|TERM_RUNLIMIT: job killed after its time|60 second(s)|hostA|-",
            Place(Phase.ENDED, "TIMEOUT", "TERM_RUNLIMIT: job killed after its time", 60, "hostA", 140),
        ),
        (
            "EXIT|143|TERM_OWNER: job killed by owner|9 second(s)|hostA|-",
            Place(Phase.ENDED, "CANCELLED", "TERM_OWNER: job killed by owner", 9, "hostA", 143),
        ),
        ("", None),
    ],
)  # fmt: skip
def test_where_a_job_of_lsf_is(text, place):
    assert place_in_jobs(text + "\n") == place


def request(**changed):
    given = {
        "name": "culmen-x", "partition": "normal", "nodes": 2, "tasks_per_node": 4, "time_s": 5400.0,
        "folder": Path("/home/a b"), "output": Path("/home/a b/job.out"), "command": "culmen run x.toml",
    }  # fmt: skip
    return Request(**given | changed)


def test_the_script_asks_lsf_for_whole_nodes_and_a_warning():
    script = Lsf().script(request(exclusive=True, account="p1", options=["-G physics"], lines=["module load x"]))
    assert script == (
        '#!/bin/bash\n#BSUB -J culmen-x\n#BSUB -q normal\n#BSUB -n 8\n#BSUB -R "span[ptile=4]"\n#BSUB -W 1:30\n'
        "#BSUB -o /dev/null\n#BSUB -wa TERM -wt 1\n#BSUB -x\n#BSUB -P p1\n#BSUB -G physics\n\n"
        "exec >>'/home/a b/job.out' 2>&1\ncd '/home/a b' || exit\nmodule load x\nexec culmen run x.toml\n"
    )
    assert "-W 0:02\n" in Lsf().script(request(time_s=61.0))
    assert "-wa" not in Lsf().script(request(time_s=60.0)), "the warning would come at once"
    with pytest.raises(InputError, match="--qos fast: LSF has no quality of service"):
        Lsf().script(request(qos="fast"))


def test_the_allocation_of_a_job_of_lsf(monkeypatch):
    monkeypatch.setenv("LSB_MCPU_HOSTS", "hostA 4 hostB 2")
    monkeypatch.setenv("LSB_QUEUE", "normal")
    assert (allocation.tasks_on_nodes(), allocation.partition(), allocation.nodes_of_job()) == ([], "", "")
    monkeypatch.setenv("LSB_JOBID", "7")
    assert (allocation.tasks_on_nodes(), allocation.partition()) == ([4, 2], "normal")
    assert allocation.nodes_of_job() == "hostA,hostB"
    assert allocation.ranks_on_a_node(9) == 4
