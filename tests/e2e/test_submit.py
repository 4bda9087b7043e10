"""``--submit local``: jobs of this machine, as those of a scheduler: submitted, followed, continued, collected."""

import contextlib
import csv
import json
import os
import re
import signal
from pathlib import Path

import pytest
from harness import Running, culmen, store_is_ready, wait_for

from culmen import _core

pytestmark = pytest.mark.no_numbers

MEASURE = ("bench", "pingpong", "--routes", "raw", "--sizes", "8,1K", "--seconds", "0.05")
SUBMIT = ("--submit", "local", "--output", "out")


def rows_in(folder):
    with (folder / "out/pingpong.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def shell_of(record):
    return int(record["job"].partition(".")[0])


def processes_of_session(session):
    """Those that have not ended: a busy machine can need some time to collect the exit codes of others (state Z)."""
    found = []
    for process in (path for path in Path("/proc").iterdir() if path.name.isdigit()):
        with contextlib.suppress(OSError):
            state, _, _, in_session = (process / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(in_session) == session and state != "Z":
                found.append(int(process.name))
    return found


def test_a_job_of_this_machine_measures_and_is_collected(tmp_path):
    done = culmen(*MEASURE, *SUBMIT, cwd=tmp_path, TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on local (1 × 2 tasks, at most 00:03:00): out/local/job.sh" in done.stdout
    assert "on local: completed, 3 of 3 routes" in done.stdout
    assert "Wrote out/pingpong.csv and out/pingpong.html" in done.stdout
    assert {row["route"] for row in rows_in(tmp_path)} == {"raw/tcp", "raw/unix", "raw/shm"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"], "the scratch folder is gone"
    again = culmen(*MEASURE, *SUBMIT, "--quiet", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, "")


LONG_ALLOWED = ("bench", "pingpong", "--routes", "raw", "--sizes", "8,1K", "--seconds", "1000", "--interval", "0.9")


def test_a_pilot_gives_the_time_of_the_job(tmp_path):
    done = culmen(*LONG_ALLOWED, *SUBMIT, "--pilot", 1, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    submitted = re.findall(r"Submitted job \S+ on local \(1 × 2 tasks, at most (\S+?)(, .*)?\)", done.stdout)
    assert len(submitted) == 2, done.stdout
    assert submitted[0] == ("00:53:00", ", a pilot of 1")  # START, and 1.5 times what --seconds allows for two sizes
    assert submitted[1][0] < "00:10:00"
    assert submitted[1][1] == ", 1 of 3 routes before"
    assert {row["route"] for row in rows_in(tmp_path)} == {"raw/tcp", "raw/unix", "raw/shm"}
    assert "--at-most" not in (tmp_path / "out/local/job.sh").read_text()


def test_the_points_of_an_earlier_pilot_give_the_time_of_the_job(tmp_path):
    """As after Ctrl-C during the pilot, which ended later."""
    pilot = culmen(*LONG_ALLOWED, "--at-most", 1, "--output", "out/local", cwd=tmp_path)
    assert pilot.returncode == 0, pilot.stderr
    done = culmen(*LONG_ALLOWED, *SUBMIT, "--pilot", 1, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    [(time, before)] = re.findall(r"Submitted job \S+ on local \(1 × 2 tasks, at most (\S+?)(, .*)?\)", done.stdout)
    assert time < "00:10:00"
    assert before == ", 1 of 3 routes before"


def test_few_points_are_measured_if_asked_for(tmp_path):
    done = culmen(*MEASURE, "--at-most", 1, "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (
        "Not all routes are measured, because of --at-most; without it, the same command measures the rest."
        in done.stdout
    )
    assert len({row["route"] for row in rows_in(tmp_path)}) == 1
    rest = culmen(*MEASURE, "--output", "out", cwd=tmp_path)
    assert rest.returncode == 0, rest.stderr
    assert len({row["route"] for row in rows_in(tmp_path)}) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--pilot", 2), "--pilot is an option of a job; add --submit slurm"),
        ((*SUBMIT, "--at-most", 2), "--at-most is not for jobs; to measure few points in a first job, write --pilot"),
        ((*SUBMIT, "--pilot", 2, "--time", 30), "--pilot estimates the time limit of the job, and --time sets it"),
    ],
)
def test_wrong_words_for_pilots_are_one_sentence(words, said, tmp_path):
    done = culmen(*MEASURE, *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


LONG = ("bench", "pingpong", "--routes", "raw", "--sizes", "1-64", "--seconds", "0.5", "--interval", "0.001")


@pytest.mark.slow
def test_after_a_job_was_cancelled_the_same_command_measures_the_rest(tmp_path):
    store = tmp_path / "out/local/pingpong.db"
    with Running(*LONG, *SUBMIT, cwd=tmp_path) as follower:
        wait_for(lambda: store_is_ready(store) and _core.Store.read(str(store)).summary()["told"] > 0, "a first route")
        record = json.loads((tmp_path / "out/local/job.json").read_text())
        shell = shell_of(record)
        os.kill(shell, signal.SIGTERM)
        code, out, err = follower.end()
    assert code == 75, out + err
    assert processes_of_session(shell) == [], "a cancelled job has ended when its results are collected"
    assert " on local was cancelled after " in out
    done = {row["route"] for row in rows_in(tmp_path)}
    assert 1 <= len(done) < 3
    second = culmen(*LONG, *SUBMIT, cwd=tmp_path)
    assert second.returncode == 0, second.stdout + second.stderr
    assert f", {len(done)} of 3 routes before)" in second.stdout
    assert len({row["route"] for row in rows_in(tmp_path)}) == 3


@pytest.mark.slow
def test_the_store_of_a_killed_job_has_all_finished_points(tmp_path):
    store = tmp_path / "out/pingpong.db"
    (tmp_path / "node").mkdir()
    with Running(*LONG, "--output", "out", "--scratch", "node", cwd=tmp_path) as job:
        wait_for(lambda: store_is_ready(store) and _core.Store.read(str(store)).summary()["told"] > 0, "the first copy")
        for pid in job.processes():
            os.kill(pid, signal.SIGKILL)
        job.end()
    told = _core.Store.read(str(store)).summary()["told"]
    assert not store.with_name("pingpong.db-wal").exists()
    done = culmen(*LONG, "--output", "out", "--scratch", "node", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"3 routes, {told} of them measured before" in done.stdout
    assert not store.with_name("pingpong.db-wal").exists()


def test_an_interrupted_follower_leaves_the_job(tmp_path):
    words = ("bench", "pingpong", "--routes", "raw/tcp", "--sizes", "1-8M", "--seconds", "3", "--interval", "0.001")
    with Running(*words, *SUBMIT, cwd=tmp_path) as follower:
        wait_for((tmp_path / "out/local/job.json").exists, "a job")
        wait_for(lambda: ": running" in follower.process.stdout.readline(), "the follower")
        os.kill(follower.process.pid, signal.SIGINT)
        wait_for(lambda: follower.process.poll() is not None, "the end of the follower")
        record = json.loads((tmp_path / "out/local/job.json").read_text())
        cancel = f"kill {shell_of(record)}"
        out = follower.process.stdout.read()
        assert follower.process.returncode == 75, out
        assert "continues. To follow it again, type the same command.\n" in out
        assert f"To cancel it: {cancel}\n" in out
        os.kill(shell_of(record), signal.SIGTERM)
        done = culmen(*words, *SUBMIT, "--dry-run", cwd=tmp_path)
        assert done.returncode == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--submit", "pbs"], "--submit pbs: there is no such scheduler; there are slurm, lsf, local"),
        (["--exclusive"], "--exclusive is an option of a job; add --submit slurm"),
        (["--tasks-per-node", "2"], "--tasks-per-node is an option of a job; add --submit slurm"),
        (["--submit", "local", "--nodes", "2"], "--nodes 2, but the partition local has 1"),
        (["--submit", "local", "--site", "none.toml"], "--site none.toml: the file cannot be read: No such file"),
        (["--scratch", "none"], "--scratch none: no store can be written there: No such file or directory"),
    ],
)
def test_wrong_options_of_jobs_are_one_sentence(tmp_path, words, says):
    done = culmen(*MEASURE, *words, cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith(f"culmen: {says}"), done.stderr
    assert done.stderr.count("\n") == 1


def test_without_slurm_the_missing_command_is_named(tmp_path):
    import shutil

    (tmp_path / "bin").mkdir()
    for name in ("culmen", "python", "python3"):
        if path := shutil.which(name):
            (tmp_path / "bin" / name).symlink_to(path)
    done = culmen(*MEASURE, "--submit", "slurm", cwd=tmp_path, PATH=str(tmp_path / "bin"))
    assert done.returncode == 2
    assert done.stderr.startswith("culmen: --submit slurm: there is no sinfo on PATH"), done.stderr
