"""The time from a SIGTERM to the end of the master, while every worker is in an evaluation."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from measure import Bench, Row, Spread, mpis_here

from culmen import _core

WORKERS = 3
EVALUATIONS_BEFORE = 4
START_TIMEOUT_S = 60
LIMIT_S = 0.2
STUDY = """
[space]
x = { lower = -1, upper = 1 }
[evaluator]
python = "slow_model.py:f"
[stop]
evaluations = 1000000
"""
MODEL = """
import time
def f(p):
    time.sleep(0.3)
    return p["x"]
"""


def clean_end(bench: Bench) -> Iterator[Row]:
    (bench.scratch / "slow_model.py").write_text(MODEL)
    study = bench.scratch / "slow_model.toml"
    study.write_text(STUDY)
    culmen = [sys.executable, "-m", "culmen"]
    starts = {
        "threads": [*culmen, "run", study, "--workers", WORKERS],
        "worker processes": [*culmen, "run", study, "--workers", WORKERS, "--worker-processes"],
    }
    for mpi, launcher in mpis_here():
        title = launcher.mpi.title
        starts[title] = [*culmen, "launch", "--mpi", mpi, "-n", WORKERS + 1, "run", study]
    took: dict[str, list[float]] = {name: [] for name in starts}
    for repetition in range(max(bench.repeat, 5)):
        for name, words in starts.items():
            took[name].append(_end_of_master([str(word) for word in words], bench.fresh(), repetition))
    for name, seconds in took.items():
        yield Row(f"Time from SIGTERM to the end of the master, {name}", "s", Spread(seconds), at_most=LIMIT_S)


def _end_of_master(words: list[str], store: str, repetition: int) -> float:
    command = subprocess.Popen([*words, "--store", store], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        master = _working_master(command, store)
        time.sleep(0.037 * repetition)  # each time at another moment of the evaluations
        descriptor = os.pidfd_open(master)
        begin = time.monotonic()
        os.kill(master, signal.SIGTERM)
        select.select([descriptor], [], [])
        seconds = time.monotonic() - begin
        os.close(descriptor)
        command.wait(START_TIMEOUT_S)
    finally:
        command.kill()
        command.wait()
    if command.returncode != 75:
        raise SystemExit(f"{' '.join(words)}\nended with exit code {command.returncode}, not 75")
    return seconds


def _working_master(command: subprocess.Popen, store: str) -> int:
    """Its process id, when the optimizer was told some evaluations."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and command.poll() is None:
        if Path(store).exists():
            try:
                summary = _core.Store.read(store).summary()
            except _core.CulmenError:  # it does not have its tables yet
                summary = {"told": 0}
            if summary["told"] >= EVALUATIONS_BEFORE:
                return int(str(summary["owner"]).split()[-1])
        time.sleep(0.02)
    command.kill()
    raise SystemExit(f"{' '.join(command.args)}\nno evaluation within {START_TIMEOUT_S} s: {command.stderr.read()}")
