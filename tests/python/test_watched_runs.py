"""Runs of a program with a time limit, which a signal can end: no process of them is left."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from culmen.launch.preloading import run_watched
from culmen.launch.watched import RunLateError, limit_for
from culmen.tune.autotune.validated import Compared, take_turns
from harness import HANGS_S, wait_for

from culmen import InputError

pytestmark = pytest.mark.no_numbers
# Neither process ends by itself or by SIGTERM; the second one is in a process group of its own.
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setpgid(0, 0)
with open(sys.argv[1] + str(os.getpid()), "w"):
    pass
time.sleep(600)
"""
WATCHING = """
import sys
from culmen.launch.preloading import run_watched
from culmen.launch.watched import RunStoppedError
try:
    run_watched(sys.argv[1:], None, {}, None)
except RunStoppedError:
    sys.exit(75)
"""


def stubborn(folder: Path) -> list[str]:
    return [sys.executable, "-c", STUBBORN, f"{folder}/pid-"]


def both_of(folder: Path) -> list[int]:
    pids = [int(path.name.removeprefix("pid-")) for path in folder.glob("pid-*")]
    return pids if len(pids) == 2 else []


def has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_run_that_ends_in_time_gives_its_exit_code():
    assert run_watched(["sh", "-c", "exit $CODE"], None, {"CODE": "5"}, HANGS_S) == 5
    assert run_watched(["true"], None, {}, None) == 0


def test_the_end_of_a_run_is_noticed_at_once(monkeypatch):
    """`Popen.wait` with a limit sleeps between its looks, and so spoils measured times."""
    monkeypatch.setattr("time.sleep", lambda _s: pytest.fail("it sleeps"))
    assert run_watched(["sleep", "0.3"], None, {}, HANGS_S) == 0


def test_a_run_that_takes_too_long_is_ended_with_all_its_processes(tmp_path, monkeypatch):
    monkeypatch.setattr("culmen.launch.watched._GRACE_S", 0.1)
    with pytest.raises(RunLateError, match="the program ran longer than 3 s, and culmen ended it"):
        run_watched(stubborn(tmp_path), None, {}, 3.0)
    for pid in both_of(tmp_path):
        wait_for(lambda pid=pid: has_ended(pid), f"the end of process {pid}")


def test_a_signal_ends_the_run_with_all_its_processes(tmp_path):
    words = [sys.executable, "-c", WATCHING, *stubborn(tmp_path)]
    with subprocess.Popen(words, start_new_session=True) as watching:
        pids = wait_for(lambda: both_of(tmp_path), "the processes of the run")
        os.kill(watching.pid, signal.SIGINT)
        assert watching.wait(HANGS_S) == 75
        for pid in pids:
            wait_for(lambda pid=pid: has_ended(pid), f"the end of process {pid}")


def test_the_limit_is_ten_times_the_first_run_plus_a_minute():
    assert [limit_for(seconds) for seconds in (0.51, 6, 30)] == [66, 120, 360]


def test_a_comparison_with_a_run_that_hangs_ends_with_one_sentence():
    found, said = Compared(), []
    kinds = [("with the rules", found.tuned_s, lambda limit_s: run_watched(["sleep", "600"], None, {}, limit_s))]
    with pytest.raises(InputError, match=r"ran longer than 0\.2 s.*\(with the rules\).*--time-limit"):
        take_turns(kinds, 3, said.append, 0.2)
    assert said[0] == "a run that takes longer than 0.2 s is ended; --time-limit changes this"
