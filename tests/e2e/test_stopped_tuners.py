"""A signal between two studies of a tuner: a sentence, an exit code, and the same command continues."""

import json
import os
import subprocess
import sys

import pytest
from harness import HANGS_S
from small_tuning import LINE, write_tuning

pytestmark = pytest.mark.no_numbers

APP = """#!/bin/sh
echo run >> "$(dirname "$0")/runs"
echo "rate = $(( 100 - (${1:-3} - 3) * (${1:-3} - 3) + ${OMP_NUM_THREADS:-0} ))"
"""
# For each tuner: its words, and the function of culmen during which the signal comes.
TUNERS = {
    "command": (("app.toml",), "tune.command.tuner:Tuner.compare"),
    "command that weighs": (("app.toml", "--use-hours", "1"), "tune.command.stopping:StopRule.seen"),
    "placement": (("--threads", "1,2", *LINE, "--", "./app"), "tune.command.tuner:Tuner.simpler"),
    "io": (("--iobuf", *LINE, "--", "./app"), "tune.command.tuner:Tuner._limit_time"),
    "hpl": (("--program", "./app", "--minutes", "0.1"), "cli.work.tune_hpl:first"),
    "cluster": ((), "cli.work.tune_cluster:measure"),
    "app": (("--", "./app"), "cli.work.tune_app:Program.profiled"),
    "app by itself": (("--direct", "--", "./app"), "cli.work.tune_app:Program.profiled"),
}
PATCHED = """
import importlib, signal, sys
name, what = sys.argv.pop(1), sys.argv.pop(1)
module, _, path = what.partition(":")
*owners, last = path.split(".")
owner = importlib.import_module(f"culmen.{module}")
for each in owners:
    owner = getattr(owner, each)
setattr(owner, last, lambda *_, **__: signal.raise_signal(getattr(signal, name)))
from culmen.cli.main import main
main()
"""


@pytest.fixture
def folder(tmp_path):
    return write_tuning(tmp_path, APP)


def stopped(folder, name, words, where, again="the same command"):
    command = [sys.executable, "-c", PATCHED, name, where, "tune", *words]
    ran = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=HANGS_S, env={**os.environ, "HOME": str(folder)}
    )
    said = f"Not all runs are done. The finished runs are kept; {again} continues.\n"
    assert (ran.returncode, ran.stderr) == (75, said), ran.stdout + ran.stderr


@pytest.mark.parametrize("tuner", TUNERS)
def test_a_signal_between_two_studies_is_a_sentence(folder, tuner):
    words, where = TUNERS[tuner]
    name = "SIGINT" if tuner.startswith("command") else "SIGTERM"
    stopped(folder, name, (tuner.partition(" ")[0], *words), where)
    assert not list(folder.glob(".culmen*")) and not list(folder.glob("culmen-*")), "no folder of files is left"


def test_overwrite_is_not_to_be_repeated(folder):
    words, where = TUNERS["command"]
    stopped(folder, "SIGTERM", ("command", *words, "--overwrite"), where, "the same command without --overwrite")


def test_the_same_command_continues_after_a_signal_before_the_comparison(folder):
    words, where = TUNERS["command"]
    stopped(folder, "SIGTERM", ("command", *words), where)
    before = (folder / "runs").read_text().count("run")
    again = [sys.executable, "-c", "from culmen.cli.main import main; main()", "tune", "command", *words]
    done = subprocess.run(again, cwd=folder, capture_output=True, text=True, timeout=HANGS_S)
    assert done.returncode == 0, done.stderr
    assert json.loads((folder / "tune-app/result.json").read_text())["best_found"] == {"n": 3}
    assert (folder / "runs").read_text().count("run") - before == 6, "no run of the search is repeated"


def test_a_signal_at_the_end_of_a_study_is_not_lost(tmp_path):
    program = """
import signal
from culmen.bench.stopping import StoppedError, stop_after, stoppable
stop_after([signal.SIGTERM])
try:
    with stoppable():
        stop_after([signal.SIGTERM])
        print("lost")
except StoppedError:
    print("stopped")
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANGS_S)
    assert (ran.returncode, ran.stdout) == (0, "stopped\n"), ran.stderr
