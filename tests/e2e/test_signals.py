"""Ctrl-C, SIGTERM and SIGUSR1: a clean end, an exit code that says so, and the same study afterwards."""

import contextlib
import os
import signal
import time

import pytest
from harness import (
    Running,
    calls_of,
    culmen,
    go_on,
    hold,
    outcomes,
    patience,
    run_undisturbed,
    sequence,
    store_is_ready,
    summary,
    wait_for,
    write_study,
)

pytestmark = [pytest.mark.alone, pytest.mark.no_numbers]  # how long an end takes is measured
BUDGET = 200


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return run_undisturbed(tmp_path_factory.mktemp("undisturbed"), BUDGET, workers=4)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGUSR1", "SIGHUP"])
@pytest.mark.parametrize("place", [[], ["--worker-processes"]], ids=["threads", "processes"])
def test_a_signal_ends_a_run_cleanly_and_resume_goes_on(undisturbed, tmp_path, name, place):
    write_study(tmp_path, BUDGET)
    hold(tmp_path, 80)  # the signal may be late
    with Running("run", "study.toml", "--workers", "4", *place, cwd=tmp_path) as run:
        wait_for(lambda: len(calls_of(tmp_path)) > 40, "40 calls")
        run.process.send_signal(getattr(signal, name))
        sent = time.monotonic()
        code, out, err = run.end()
        took_s = time.monotonic() - sent
        assert not run.processes()
    assert (code, err) == (75, "")
    assert "culmen resume study.db" in out
    assert took_s < patience(1.0), f"the end took {took_s:.2f} s"
    assert not summary(tmp_path / "study.db")["owned"]
    go_on(tmp_path)
    done = culmen("resume", "study.db", "--workers", 4, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sequence(tmp_path / "study.db") == undisturbed[0]
    assert outcomes(tmp_path / "study.db") == undisturbed[1]


def test_a_long_evaluation_does_not_delay_the_end(tmp_path):
    write_study(tmp_path)
    (tmp_path / "model.py").write_text(
        "import time\ndef f(p):\n    open('started', 'w').close()\n    time.sleep(100)\n"
    )
    with Running("run", "study.toml", "--workers", "2", cwd=tmp_path) as run:
        wait_for((tmp_path / "started").exists, "the first evaluation")
        run.process.send_signal(signal.SIGTERM)
        sent = time.monotonic()
        code, _, err = run.end()
        assert time.monotonic() - sent < patience(1.0)
        assert not run.processes()
    assert (code, err) == (75, "")


COMMAND = """
[space]
x = { lower = -5, upper = 5 }
[evaluator]
command = ["sh", "-c", '''
while [ $CULMEN_EVALUATION -gt 20 ] && [ -e $CULMEN_STUDY_FOLDER/held ]; do sleep 0.1; done
sleep 0.2; echo $CULMEN_PARAM_X''']
[stop]
evaluations = 40
"""


@pytest.mark.parametrize("evaluator", ["python", "command"])
@pytest.mark.parametrize("place", [[], ["--worker-processes"]], ids=["threads", "processes"])
def test_a_signal_to_every_process_leaves_no_failure_in_the_study(tmp_path, evaluator, place):
    """As scancel, a time limit of Slurm and the end of a container send it; the master may well get it last."""
    write_study(tmp_path, BUDGET)
    hold(tmp_path, 40)
    (tmp_path / "held").touch()
    if evaluator == "command":
        (tmp_path / "study.toml").write_text(COMMAND)
    with Running("run", "study.toml", "--workers", "4", *place, cwd=tmp_path) as run:
        wait_for(lambda: store_is_ready(tmp_path / "study.db") and summary(tmp_path / "study.db")["told"] > 4, "5 told")
        for pid in [*(run.processes().keys() - {run.process.pid}), run.process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        assert run.end()[0] == 75
    go_on(tmp_path)
    (tmp_path / "held").unlink()
    assert culmen("resume", "study.db", "--quiet", cwd=tmp_path).returncode == 0
    assert summary(tmp_path / "study.db")["failed"] == 0
