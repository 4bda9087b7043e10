"""kill -9 of the master at any moment: nothing is left running, nothing finished is lost or repeated."""

import os
import random
import time

import pytest
from harness import (
    HANGS_S,
    Running,
    calls_of,
    culmen,
    go_on,
    hold,
    outcomes,
    recorded_points,
    run_undisturbed,
    sequence,
    store_is_ready,
    summary,
    wait_for,
    wait_for_soon,
    write_study,
)

pytestmark = pytest.mark.no_numbers

BUDGET = 240
KILLS = 50 if os.environ.get("CULMEN_TEST_ALL") else 3


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Sequence and outcomes of a run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    found = run_undisturbed(folder, BUDGET, workers=4)
    assert len(calls_of(folder)) >= BUDGET
    return found


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_killed_study_goes_on_as_if_nothing_had_happened(undisturbed, tmp_path, seed):
    chance = random.Random(seed)  # noqa: S311
    write_study(tmp_path, BUDGET)
    store = tmp_path / "study.db"
    place = chance.choice([[], ["--worker-processes"]])
    moment = chance.randrange(BUDGET)
    with Running("run", "study.toml", "--workers", "4", "--quiet", *place, cwd=tmp_path) as run:
        wait_for(lambda: store_is_ready(store) and len(calls_of(tmp_path)) >= moment, f"call {moment} of the model")
        time.sleep(chance.random() * 0.01)
        run.process.kill()
        wait_for_soon(lambda: not run.processes(), "the end of every process of the run", 1.0)
    recorded, before, ended = recorded_points(store), len(calls_of(tmp_path)), summary(store)["finished"]

    done = culmen("resume", "study.db", "--workers", 4, "--quiet", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert recorded.isdisjoint(calls_of(tmp_path)[before:])
    assert sequence(store) == undisturbed[0]
    assert outcomes(store) == undisturbed[1]
    assert summary(store)["epoch"] == (1 if ended else 2), "a run of which little was left may have ended"


def test_outcomes_that_were_recorded_and_not_told_are_not_lost(undisturbed, tmp_path):
    """The first candidate of the study waits, so the other outcomes of its generation cannot be told."""
    write_study(tmp_path, BUDGET)
    store, model, hold = tmp_path / "study.db", tmp_path / "model.py", tmp_path / "hold"
    first = next(entry[2] for entry in undisturbed[0] if entry[0] == "ask")
    waits = f"    while p['x'] == {first!r} and os.path.exists({str(hold)!r}):\n        time.sleep(0.01)\n"
    model.write_text(model.read_text().replace("def f(p):\n", f"def f(p):\n{waits}"))
    hold.touch()
    with Running("run", "study.toml", "--workers", "4", "--quiet", cwd=tmp_path) as run:
        wait_for(lambda: store_is_ready(store) and len(recorded_points(store)) >= 3, "outcomes in the store")
        run.process.kill()
        run.process.wait(HANGS_S)
    hold.unlink()
    recorded, before, found = recorded_points(store), len(calls_of(tmp_path)), summary(store)
    assert found["outcomes"] > found["told"]

    done = culmen("resume", "study.db", "--workers", 4, "--quiet", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert recorded.isdisjoint(calls_of(tmp_path)[before:])
    assert sequence(store) == undisturbed[0]
    assert outcomes(store) == undisturbed[1]


def test_a_study_survives_being_killed_again_and_again(undisturbed, tmp_path):
    chance = random.Random(1000)  # noqa: S311
    write_study(tmp_path, BUDGET)
    store = tmp_path / "study.db"
    words = ["run", "study.toml"]
    for _ in range(4):
        calls = len(calls_of(tmp_path))
        hold(tmp_path, calls + 50)  # the four runs together must not end the study, however late they are killed
        with Running(*words, "--workers", "4", "--quiet", cwd=tmp_path) as run:
            wait_for(lambda: store_is_ready(store) and len(calls_of(tmp_path)) > calls + 40, "40 more calls")  # noqa: B023
            time.sleep(chance.random() * 0.01)
            run.process.kill()
            run.process.wait(HANGS_S)
        words = ["resume", "study.db"]
    go_on(tmp_path)
    assert culmen(*words, "--quiet", cwd=tmp_path).returncode == 0
    assert sequence(store) == undisturbed[0]
    assert outcomes(store) == undisturbed[1]


@pytest.mark.parametrize("place", [[], ["--worker-processes"]], ids=["threads", "processes"])
@pytest.mark.parametrize("evaluator", ["python", "command"])
def test_long_evaluations_and_what_they_started_die_with_the_master(tmp_path, place, evaluator):
    write_study(tmp_path)
    (tmp_path / "model.py").write_text(
        "import subprocess, time\ndef f(p):\n    subprocess.Popen(['sleep', '100'])\n    time.sleep(100)\n"
    )
    if evaluator == "command":
        text = (tmp_path / "study.toml").read_text()
        command = """command = ["sh", "-c", "sleep 100 & sleep 100"]"""
        (tmp_path / "study.toml").write_text(text.replace('python = "model.py:f"', command))
    with Running("run", "study.toml", "--workers", "2", "--quiet", *place, cwd=tmp_path) as run:
        wait_for(lambda: sum("sleep 100" in line for line in run.processes().values()) >= 2, "two long evaluations")
        run.process.kill()
        wait_for_soon(lambda: not run.processes(), "the end of every process of the run", 1.0)
