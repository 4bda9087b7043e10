"""Batch jobs: what Slurm's commands print, what a cluster has, scripts, and the file of a site."""

import threading
from pathlib import Path

import pytest
from culmen.launch.scheduler import scheduler_named
from culmen.launch.scheduler.fitting import partitions_named, shape_of, time_for
from culmen.launch.scheduler.following import follow
from culmen.launch.scheduler.job import Partition, Phase, Place, Request
from culmen.launch.scheduler.site import read_site
from culmen.launch.scheduler.slurm import Slurm
from culmen.launch.scheduler.slurm_texts import (
    partitions_in,
    place_in_accounting,
    place_in_queue,
    place_in_record,
)
from culmen.launch.scheduler.times import seconds_of, shown_time, time_of

from culmen import InputError

pytestmark = pytest.mark.no_numbers

# sinfo --noheader --exact, as Slurm 22.05 prints it: two kinds of nodes in one partition, nodes that are down.
SINFO = """\
THIN*|up|3-00:00:00|1-infinite|7|2|12|24|mixed
THIN*|up|3-00:00:00|1-infinite|2|2|12|24|allocated
THIN*|up|3-00:00:00|1-infinite|1|2|12|24|drained*
EPYC|up|1-00:00:00|1-4|8|2|64|256|idle~
FAT|up|infinite|2-infinite|2|4|9|36|idle
FAT|up|infinite|2-infinite|1|2|8|32|down
debug|inact|30:00|1|1|1|4|4|idle
"""
PENDING = "41|PENDING|Resources|0:00|\n"
RUNNING = "41|RUNNING|None|1-02:03:04|n[1-2]\n"
RECORD = (
    "JobId=1 JobName=culmen-collectives UserId=root(0) GroupId=root(0) MCS_label=N/A Priority=4294901759 Nice=0 "
    "Account=(null) QOS=(null) JobState={state} Reason={reason} Dependency=(null) Requeue=1 Restarts=0 BatchFlag=1 "
    "Reboot=0 ExitCode={code} RunTime=00:00:27 TimeLimit=00:01:00 TimeMin=N/A SubmitTime=2026-11-23T20:33:20 "
    "Partition=short AllocNode:Sid=localhost:9465 ReqNodeList=(null) ExcNodeList=(null) NodeList=n1 BatchHost=n1 "
    "Command=/home/a b/job.sh WorkDir=/home/a b Power= \n"
)
SACCT = "41|{state}|{code}|3600|thin[001-002]\n"


def complaint(call, *arguments):
    with pytest.raises(InputError) as raised:
        call(*arguments)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_sinfo_gives_partitions_with_what_jobs_may_have():
    thin, epyc, fat, debug = partitions_in(SINFO)
    assert thin == Partition("THIN", True, True, 10, 9, 24, 24, 1, None, 3 * 86400)
    assert epyc == Partition("EPYC", True, False, 8, 8, 128, 256, 1, 4, 86400)
    assert fat == Partition("FAT", True, False, 3, 2, 16, 32, 2, None, None)
    assert (debug.is_up, debug.most_s) == (False, 1800)
    assert (debug.least_nodes, debug.most_nodes) == (1, 1), "sinfo prints one number if both are equal"
    assert partitions_in("") == []
    assert complaint(partitions_in, "slurm is being upgraded\n").startswith("sinfo printed a line that culmen cannot")


@pytest.mark.parametrize(
    ("state", "usable"),
    [
        *((word, 3) for word in ("idle", "idle~", "mixed", "allocated", "completing", "planned", "mixed-", "idle#")),
        *((word, 0) for word in ("idle*", "down", "drained", "draining", "draining@", "fail", "failing", "maint")),
        *((word, 0) for word in ("unknown", "future", "inval", "no_respond", "powered_down", "power_down", "maint$")),
    ],
)
def test_nodes_that_start_no_job_are_not_usable(state, usable):
    (found,) = partitions_in(f"THIN|up|infinite|1-infinite|3|2|12|24|{state}\n")
    assert (found.nodes, found.usable) == (3, usable)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (place_in_queue(PENDING), Place(Phase.PENDING, "PENDING", "Resources")),
        (place_in_queue(RUNNING), Place(Phase.RUNNING, "RUNNING", "", 93784, "n[1-2]")),
        (place_in_queue("41|COMPLETED|None|0:10|n1\n"), None),
        (place_in_queue("41|REQUEUED|BeginTime|0:00|\n"), Place(Phase.PENDING, "REQUEUED", "BeginTime")),
        (place_in_queue(""), None),
        (
            place_in_record(RECORD.format(state="FAILED", reason="NonZeroExitCode", code="75:0")),
            Place(Phase.ENDED, "FAILED", "NonZeroExitCode", 27, "n1", 75),
        ),
        (
            place_in_record(RECORD.format(state="TIMEOUT", reason="TimeLimit", code="0:15")),
            Place(Phase.ENDED, "TIMEOUT", "TimeLimit", 27, "n1", 143),
        ),
        (
            place_in_record(RECORD.format(state="RUNNING", reason="None", code="0:0")),
            Place(Phase.RUNNING, "RUNNING", "", 27, "n1"),
        ),
        (place_in_record(""), None),
        (
            place_in_accounting(SACCT.format(state="CANCELLED by 1001", code="0:0")),
            Place(Phase.ENDED, "CANCELLED", "by 1001", 3600, "thin[001-002]", 0),
        ),
        (
            place_in_accounting(SACCT.format(state="NODE_FAIL", code="1:0")),
            Place(Phase.ENDED, "NODE_FAIL", "", 3600, "thin[001-002]", 1),
        ),
        (place_in_accounting("Slurm accounting storage is disabled\n"), None),
    ],
)
def test_where_a_job_is(place, expected):
    assert place == expected


def test_times_are_those_of_sbatch():
    times = {"30": 1800, "30:10": 1810, "1:30:00": 5400, "2-3": 183600, "2-3:04": 183840, "2-3:04:05": 183845}
    assert {text: seconds_of(text) for text in times} == times
    assert seconds_of("infinite") is seconds_of("UNLIMITED") is None
    assert [shown_time(s) for s in (1, 61, 5400, 90000)] == ["00:01:00", "00:02:00", "01:30:00", "1-01:00:00"]
    for wrong in ("soon", "0", "1h", "1:2:3:4", "", "infinite"):
        assert complaint(time_of, wrong).startswith(f"--time {wrong}: it must be minutes or ")


def test_partitions_are_chosen_by_name():
    there = partitions_in(SINFO)
    assert [each.name for each in partitions_named("EPYC, THIN,EPYC", there)] == ["EPYC", "THIN"]
    assert [each.name for each in partitions_named(None, there)] == ["THIN"]
    assert [each.name for each in partitions_named(None, there[1:2])] == ["EPYC"]
    assert complaint(partitions_named, "THN", there) == (
        "--partition: there is no partition 'THN' here; did you mean 'THIN'? there are THIN, EPYC, FAT, debug"
    )
    assert "debug is not up" in complaint(partitions_named, "debug", there)
    assert complaint(partitions_named, None, there[1:]).startswith("this cluster has no default partition; give --")


def test_nodes_and_tasks_are_those_that_the_ranks_need():
    thin, epyc, fat, _ = partitions_in(SINFO)
    assert shape_of(thin, 48, None, None) == (2, 24)
    assert shape_of(thin, 6, None, None) == (1, 6)
    assert shape_of(thin, 6, 4, None) == (4, 2)
    assert shape_of(thin, 48, None, 12) == (4, 12)
    assert shape_of(fat, 4, None, None) == (2, 4)
    assert shape_of(thin, 0, 2, None) == (2, 24)
    assert shape_of(epyc, 256, None, None) == (2, 128)
    (empty,) = partitions_in("new|up|infinite|1-infinite|0|0|0|0|n/a\n")
    assert complaint(shape_of, empty, 4, None, None) == "the partition new has no nodes"


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        (
            "THIN",
            (240, None, None),
            "240 tasks with 24 on each node need 10 nodes, but of the 10 nodes of the partition ",
        ),
        ("THIN", (2, 11, None), "--nodes 11, but the partition THIN has 10"),
        ("EPYC", (2, 5, None), "--nodes 5, but the partition EPYC allows at most 4 for a job"),
        ("FAT", (2, 1, None), "--nodes 1, but the partition FAT wants at least 2 for a job"),
        ("THIN", (2, None, 25), "--tasks-per-node 25: the nodes of the partition THIN have 24 CPUs"),
        ("THIN", (48, 1, None), "48 ranks need more room than --nodes 1 with 24 tasks on each node"),
    ],
)
def test_what_the_cluster_does_not_have_is_refused(name, given, says):
    (partition,) = partitions_named(name, partitions_in(SINFO))
    assert complaint(shape_of, partition, *given).startswith(says)


def test_the_time_is_cut_to_what_the_partition_allows():
    thin, _, fat, _ = partitions_in(SINFO)
    assert time_for(thin, None, 1e6) == 3 * 86400
    assert time_for(fat, None, 1e6) == 1e6
    assert time_for(thin, 60.0, 1e6) == 60
    assert complaint(time_for, thin, 4 * 86400.0, 1.0) == (
        "--time 4-00:00:00: the partition THIN allows at most 3-00:00:00"
    )


REQUEST = Request(
    "culmen-collectives", "THIN", 2, 24, 5400.0, Path("/home/a b"), Path("/home/a b/100%/job.out"), "culmen bench",
    exclusive=True, account="physics", options=["--constraint=ib"], lines=["module load openmpi"], about="one\ntwo",
)  # fmt: skip


def test_the_script_is_as_a_person_would_write_it():
    assert (
        Slurm().script(REQUEST)
        == """#!/bin/bash
#SBATCH --job-name=culmen-collectives
#SBATCH --partition=THIN
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=24
#SBATCH --time=01:30:00
#SBATCH --output="/home/a b/100%%/job.out"
#SBATCH --open-mode=append
#SBATCH --chdir="/home/a b"
#SBATCH --signal=B:TERM@60
#SBATCH --exclusive
#SBATCH --account=physics
#SBATCH --constraint=ib

# one
# two
module load openmpi
exec culmen bench
"""
    )


def test_a_site_has_modules_variables_and_lines(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert read_site(None).shell() == []
    file = tmp_path / "culmen/site.toml"
    file.parent.mkdir()
    file.write_text(
        'modules = ["openmpi/4.1.5", "gcc"]\nlines = ["ulimit -s unlimited"]\nqos = "high"\n'
        '[environment]\nUCX_TLS = "rc,sm"\nN = 1\n[partition.EPYC]\nmodules = ["openmpi/epyc"]\nenvironment = { N = 2 }'
    )
    site = read_site(None)
    assert site.of("THIN").shell() == [
        "module load openmpi/4.1.5 gcc || exit",
        "export UCX_TLS=rc,sm",
        "export N=1",
        "ulimit -s unlimited",
    ]
    assert site.of("EPYC").shell()[:3] == ["module load openmpi/epyc || exit", "export UCX_TLS=rc,sm", "export N=2"]
    assert site.of("EPYC").qos == "high"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('modlues = ["a"]', "there is no key modlues; did you mean 'modules'? there are modules, environment, "),
        ('modules = "a"', "modules must be a list of strings, got 'a'"),
        ("[environment]\nA = [1]", "environment must be a table of strings, got {'A': [1]}"),
        ("[partition.A]\nscratch = 1", "partition.A.scratch must be a string, got 1"),
        ("partition = 1", "partition must be tables such as [partition.NAME]"),
        ("modules = [", "is no TOML: "),
    ],
)
def test_mistakes_in_the_file_of_a_site_are_one_sentence(tmp_path, text, says):
    file = tmp_path / "site.toml"
    file.write_text(text)
    said = complaint(read_site, file)
    assert said.startswith(str(file))
    assert says in said
    assert "cannot be read: No such file" in complaint(read_site, tmp_path / "none.toml")


class Slow:
    """Its job waits, a question fails, it runs, and ends."""

    def __init__(self):
        self.asked = 0

    def place(self, job):
        self.asked += 1
        if self.asked == 3:
            raise InputError("squeue failed: no answer")
        word = "PENDING" if self.asked < 20 else "RUNNING" if self.asked < 25 else "ENDED"
        return Place(Phase[word], word)


def test_the_scheduler_is_asked_less_and_less_often():
    waits, seen, slow = [], [], Slow()
    for places in follow(slow, ["1"], threading.Event(), waits.append):
        seen.append(places["1"])
    assert [place.phase for place in seen].count(Phase.PENDING) == 19
    assert seen[2] == Place(Phase.PENDING, "PENDING", "squeue failed: no answer")
    assert seen[-1].phase is Phase.ENDED
    assert waits[0] <= 1.5
    assert max(waits) == 30
    assert waits[19] == 1, "it has just begun"


def test_following_ends_when_the_user_leaves():
    leave = threading.Event()
    leave.set()
    assert len(list(follow(Slow(), ["1"], leave))) == 1


def test_without_slurm_the_missing_command_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert complaint(Slurm().partitions).startswith("--submit slurm: there is no sinfo on PATH")
    assert complaint(scheduler_named, "pbs") == (
        "--submit pbs: there is no such scheduler; there are slurm, lsf, local"
    )


@pytest.fixture
def commands(monkeypatch, tmp_path):
    """Programs with the names of Slurm's, which print what a test says."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def write(name, text):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)

    return write


def test_what_slurm_says_of_a_failure_is_one_sentence(commands):
    commands("sinfo", "echo 'slurm_load_partitions: Unable to contact slurm controller (connect failure)' >&2; exit 1")
    assert complaint(Slurm().partitions) == (
        "--submit slurm: no Slurm cluster answers here (sinfo: Unable to contact slurm controller (connect failure))"
    )
    commands("sbatch", "echo 'sbatch: error: invalid account' >&2; echo 'sbatch: error: not submitted' >&2; exit 1")
    assert complaint(Slurm().submit, Path("job.sh"), Request("a", "b", 1, 1, 60, Path("/"), Path("o"), "c")) == (
        "sbatch failed: invalid account; not submitted"
    )


def test_a_job_that_has_left_the_queue_is_looked_for_elsewhere(commands):
    commands("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    commands("scontrol", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    commands("sacct", "echo '41|TIMEOUT|0:0|3600|n1'")
    assert Slurm().place("41").word == "TIMEOUT"
    commands("sacct", "echo Slurm accounting storage is disabled >&2; exit 1")
    assert Slurm().place("41").phase is Phase.UNKNOWN
    commands("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1")
    assert "squeue failed: " in complaint(Slurm().place, "41")


def test_sbatch_says_the_number_of_the_job(commands, tmp_path):
    commands("sbatch", "echo '41;cluster'")
    request = Request("a", "b", 1, 1, 60, tmp_path, tmp_path / "o", "c")
    assert Slurm().submit(tmp_path / "job.sh", request) == "41"
