"""``--submit lsf``, with the stand-in for LSF's commands: submitted, followed, cancelled, continued."""

import csv
import json
import os
import re
import signal
import subprocess

import mini_lsf
import pytest
from harness import Running, culmen, environment, wait_for

MEASURE = ("bench", "pingpong", "--routes", "raw", "--sizes", "8,1K", "--seconds", "0.05")
SUBMIT = ("--submit", "lsf", "--output", "out")


@pytest.fixture
def lsf(tmp_path):
    (tmp_path / "lsf-state").mkdir()
    return mini_lsf.install(tmp_path / "lsf-state")


def routes_in(folder):
    with (folder / "out/pingpong.csv").open(newline="") as file:
        return {(row["route"], row["partition"]) for row in csv.DictReader(file)}


def test_a_job_of_lsf_measures_and_is_collected(tmp_path, lsf):
    done = culmen(*MEASURE, *SUBMIT, "--partition", "normal,short", cwd=tmp_path, **lsf)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Submitted job 1 on normal \(1 × 2 tasks, at most 00:03:00\): out/normal/job.sh", done.stdout)
    assert "culmen: job 2 on short: completed, 3 of 3 routes" in done.stdout
    expected = {(f"raw/{route}", queue) for route in ("tcp", "unix", "shm") for queue in ("normal", "short")}
    assert routes_in(tmp_path) == expected
    again = culmen(*MEASURE, *SUBMIT, "--quiet", cwd=tmp_path, **lsf)
    assert (again.returncode, again.stdout) == (0, "")


def test_after_the_time_limit_of_lsf_the_same_command_measures_the_rest(tmp_path, lsf):
    measure = (*MEASURE[:-1], "1", "--interval", "0.001")  # the limit may be noticed late
    first_copy = str(tmp_path / "out/normal/pingpong.db")
    first = culmen(*measure, *SUBMIT, cwd=tmp_path, **lsf, MINI_LSF_LIMIT_AT=first_copy)
    assert first.returncode == 75, first.stdout + first.stderr
    done = int(re.search(r"near its time limit after (\d) of 3 routes; to measure the rest", first.stdout)[1])
    assert done < 3
    rest = culmen(*measure, *SUBMIT, cwd=tmp_path, **lsf)
    assert rest.returncode == 0, rest.stdout + rest.stderr
    before = f", {done} of 3 routes before" if done else ""
    assert f"Submitted job 2 on normal (1 × 2 tasks, at most 00:03:00{before})" in rest.stdout
    assert "culmen: job 2 on normal: completed, 3 of 3 routes" in rest.stdout


def test_a_cancelled_job_of_lsf_is_told(tmp_path, lsf):
    words = ("bench", "pingpong", "--routes", "raw/tcp", "--sizes", "1-8M", "--seconds", "3", "--interval", "0.001")
    with Running(*words, *SUBMIT, cwd=tmp_path, **lsf) as follower:
        wait_for(lambda: ": running" in follower.process.stdout.readline(), "the follower")
        os.kill(follower.process.pid, signal.SIGINT)
        wait_for(lambda: follower.process.poll() is not None, "the end of the follower")
        said = follower.process.stdout.read()
        # The job has the mark of its follower, so the end of this block would kill it.
        cancel = re.search(r"^To cancel it: (bkill 1)$", said, re.MULTILINE)[1]
        subprocess.run(cancel.split(), env=environment(**lsf), check=True, capture_output=True)
        wait_for(lambda: mini_lsf.state(tmp_path / "lsf-state", 1)["stat"] == "EXIT", "the end of the job")
        assert culmen(*MEASURE, "--submit", "lsf", "--output", "out", "--dry-run", cwd=tmp_path, **lsf).returncode == 0
        assert json.loads((tmp_path / "out/normal/job.json").read_text())["scheduler"] == "lsf"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--partition", "shut"), "--partition: the partition shut is not up, so no job starts there now"),
        (("--nodes", "3"), "--nodes 3, but of the 3 nodes of the partition normal only 2 are in order"),
        (("--qos", "fast"), "--qos fast: LSF has no quality of service; write LSF's options in the site file"),
        (("--partition", "short", "--time", "10"), "--time 00:10:00: the partition short allows at most 00:03:00"),
    ],
)
def test_what_lsf_has_not_is_one_sentence(tmp_path, lsf, words, says):
    done = culmen(*MEASURE, *SUBMIT, *words, cwd=tmp_path, **lsf)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"culmen: {says}\n"
    assert not (tmp_path / "lsf-state/job.1.sh").exists()


def test_without_lsf_the_missing_command_is_named(tmp_path):
    done = culmen(*MEASURE, *SUBMIT, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("culmen: --submit lsf: there is no bqueues on PATH; run this command where LSF")
