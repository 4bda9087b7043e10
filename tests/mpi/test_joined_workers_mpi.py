"""Ranks of an MPI launch, and workers that join over a network, in one study."""

import re
import shlex
import subprocess
from collections import Counter

import pytest
from harness import HANGS_S, PYTHON, Running, culmen, environment, wait_for

pytestmark = pytest.mark.either("mpi")

BUDGET = 60
# An evaluation ends only when both kinds of workers have begun one.
MODEL = """
import os, pathlib, time
def f(p):
    here = os.environ.get("KIND", "ranks")
    folder = pathlib.Path(os.environ["SEEN"])
    with open(folder / here, "a") as log:
        log.write("x")
    while not all((folder / kind).exists() for kind in ("ranks", "joined")):
        time.sleep(0.001)
    return (p["x"] - 1) ** 2 + p["y"] ** 2
"""
STUDY = f"""
[space]
x = {{ lower = -5, upper = 5 }}
y = {{ lower = -5, upper = 5 }}
[evaluator]
python = "model.py:f"
[optimizer]
name = "random"
[stop]
evaluations = {BUDGET}
"""
PROGRAM = f"""
import sys
import culmen
from model import f
space = {{"x": (-5, 5), "y": (-5, 5)}}
if len(sys.argv) > 2:
    address, token, *pin = sys.argv[2:]
    print(culmen.work(address, f, space, slots=2, token_file=token, fingerprint=pin[0] if pin else None))
else:
    address = sys.argv[1] + "://127.0.0.1:0"
    found = culmen.minimize(
        f, space, budget={BUDGET}, optimizer="random", listen=address, token_file="T", store="fit.db"
    )
    print(found.evaluations, "ended")
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("SEEN", str(tmp_path))
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "fit.toml").write_text(STUDY)
    (tmp_path / "fit.py").write_text(PROGRAM)
    return tmp_path


def line_of(stream, pattern):
    return next(found for line in stream if (found := re.search(pattern, line)))


def check_end(run, folder):
    """The study's end: each evaluation counted once, by both kinds, and no process is left."""
    code, out, err = run.end()
    assert code == 0, out + err
    called = {kind: len((folder / kind).read_text()) for kind in ("ranks", "joined")}
    assert sum(called.values()) == BUDGET
    rows = culmen("export", "fit.db", "--csv", cwd=folder).stdout.splitlines()[1:]
    assert Counter(int(row.split(",")[0]) for row in rows) == Counter(range(BUDGET))
    wait_for(lambda: not run.processes(), "the end of all processes")
    return called, out


def program(*words, cwd):
    command, there = [PYTHON, *words], environment(KIND="joined")
    done = subprocess.run(command, cwd=cwd, env=there, capture_output=True, text=True, timeout=HANGS_S)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("scheme", ["tcp", "wss"])
def test_a_program_on_ranks_takes_workers_that_join(mpi, folder, scheme):
    with Running("launch", "-n", 3, "--mpi", mpi, PYTHON, "fit.py", scheme, cwd=folder) as run:
        found = line_of(run.process.stderr, r"Workers join with: culmen\.work\('([^']+)'(.*)")
        pin = re.findall(r"fingerprint='(\w+)'", found[2])
        assert bool(pin) == (scheme == "wss")
        worker = program("fit.py", scheme, found[1], "T", *pin, cwd=folder)
        called, out = check_end(run, folder)
    assert worker == f"{called['joined']}\n"
    assert f"{BUDGET} ended" in out


def test_a_command_on_ranks_takes_workers_that_join(mpi, folder):
    words = ("run", "fit.toml", "--listen", "tcp://127.0.0.1:0", "--token-file", "T")
    with Running("launch", "-n", 3, "--mpi", mpi, *words, cwd=folder) as run:
        join = shlex.split(line_of(run.process.stdout, r"Workers join with: culmen (.*)")[1])
        worker = culmen(*join, "--slots", 2, cwd=folder, KIND="joined")
        called, out = check_end(run, folder)
    assert (worker.returncode, worker.stderr) == (0, "")
    assert worker.stdout.splitlines()[-1] == f"{called['joined']} evaluations were done here"
    assert re.search(rf"evaluations +{BUDGET}\b", out)
