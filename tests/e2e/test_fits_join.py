"""Fits whose evaluations, and those for the errors, are made by workers that join: ``culmen run`` and ``culmen errors``
with ``--listen``."""

import json
import re
import shlex
import signal

import pytest
from harness import Running, culmen, wait_for

pytestmark = [pytest.mark.either("scheme"), pytest.mark.usefixtures("data_folder")]

LINE = """
[space]
a = { lower = -5, upper = 5 }
b = { lower = -5, upper = 5 }
[evaluator]
python = "model.py:f"
result = "residuals"
[stop]
evaluations = 200
"""
# Only who is told where to write can evaluate.
LINE_MODEL = """
import os
def f(p):
    with open(os.environ["CALLS"], "a") as log:
        log.write("x")
    return [(p["a"] * x + p["b"] - (0.5 * x + 1 + 0.1 * (-1) ** x)) / 0.1 for x in range(8)]
"""


def write_fit(folder):
    folder.mkdir()
    (folder / "fit.toml").write_text(LINE)
    (folder / "model.py").write_text(LINE_MODEL)
    return folder


def way_in(stream):
    """The words after `culmen` with which workers join the run, whose output is the stream."""
    found = next(f for line in stream if (f := re.search(r"Workers join with: culmen (.*)", line)))
    return shlex.split(found[1])


def join_fit(run, stream, folder, calls):
    """Works for the run, whose stream names the command to join. Returns the run's output and the worker's."""
    words = [word.replace("STUDY.toml", "fit.toml") for word in way_in(stream)]
    done = culmen(*words, "--slots", 2, cwd=folder, CALLS=str(calls))
    assert (done.returncode, done.stderr) == (0, "")
    return *run.end(), done.stdout


def parameters_in(out):
    """The lines of the table of parameters and their errors."""
    return [line for line in out.splitlines() if "±" in line or line.startswith("│")]


def test_workers_that_joined_evaluate_for_the_errors_of_a_fit(tmp_path, scheme):
    alone, here, there = (write_fit(tmp_path / name) for name in ("alone", "here", "there"))
    local = culmen("run", "fit.toml", "--workers", 2, cwd=alone, CALLS=str(tmp_path / "others"))
    assert local.returncode == 0, local.stderr
    calls = tmp_path / "calls"
    with Running("run", "fit.toml", "--listen", f"{scheme}://127.0.0.1:0", cwd=here) as run:
        code, out, err, worked = join_fit(run, run.process.stdout, there, calls)
    assert (code, err) == (0, "")
    assert "more evaluations" in local.stdout
    assert len(parameters_in(out)) == 3
    assert parameters_in(out) == parameters_in(local.stdout)
    kept = [json.loads(culmen("errors", "fit.db", "--json", cwd=folder).stdout) for folder in (alone, here)]
    assert kept[0] == kept[1]
    assert f"{len(calls.read_text())} evaluations were done here" in worked


def test_workers_leave_a_fit_that_is_interrupted(tmp_path):
    here, calls = write_fit(tmp_path / "here"), tmp_path / "calls"
    model = here / "model.py"
    model.write_text(model.read_text().replace("    return", "    import time; time.sleep(3600)\n    return"))
    with Running("run", "fit.toml", "--listen", "tcp://127.0.0.1:0", cwd=here) as run:
        words = way_in(run.process.stdout)
        with Running(*words, "--slots", 2, cwd=here, CALLS=str(calls)) as worker:
            wait_for(lambda: calls.exists(), "an evaluation")
            run.process.send_signal(signal.SIGINT)
            assert run.end()[0] == 75
            assert worker.end()[0] == 0


def test_errors_are_for_workers_that_join_again(tmp_path):
    here, there = write_fit(tmp_path / "here"), write_fit(tmp_path / "there")
    calls = tmp_path / "calls"
    with Running("run", "fit.toml", "--no-errors", "--listen", "tcp://127.0.0.1:0", cwd=here) as run:
        assert join_fit(run, run.process.stdout, there, calls)[0] == 0
    evaluated = json.loads(culmen("status", "fit.db", "--json", cwd=here).stdout)["told"]
    assert len(calls.read_text()) == evaluated

    words = ["errors", "fit.db", "--json", "--listen", "tcp://127.0.0.1:0"]
    with Running(*words, cwd=here) as run:
        code, out, err, _ = join_fit(run, run.process.stderr, there, calls)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["free"] == ["a", "b"]
    assert len(calls.read_text()) == evaluated + found["evaluations"]


def test_errors_after_a_run_use_its_own_workers(tmp_path):
    here, calls = write_fit(tmp_path / "here"), tmp_path / "calls"
    done = culmen("run", "fit.toml", "--workers", 1, "--listen", "tcp://127.0.0.1:0", cwd=here, CALLS=str(calls))
    assert done.returncode == 0, done.stderr
    assert "more evaluations" in done.stdout


def test_errors_of_a_refit_need_workers_of_this_machine(tmp_path):
    done = culmen("errors", "fit.db", "--fix", "a=1", "--listen", "tcp://127.0.0.1:0", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "culmen: --fix and --listen are given; give only one of them\n"
