"""Studies that are resumed, and the state that `status` shows."""

import json
import re
import subprocess
import sys

import pytest
from culmen.store.opening import open_store
from harness import (
    Running,
    calls_of,
    culmen,
    environment,
    go_on,
    hold,
    sequence,
    store_is_ready,
    summary,
    wait_for,
    write_study,
)

from culmen import InputError, minimize

pytestmark = pytest.mark.no_numbers


def test_status_while_it_runs_and_afterwards(tmp_path):
    write_study(tmp_path, 200)
    model, seen = tmp_path / "model.py", tmp_path / "seen"
    wait = (
        f"    while len(open({str(tmp_path / 'calls')!r}).readlines()) > 100 and not os.path.exists({str(seen)!r}):\n"
    )
    model.write_text(model.read_text().replace("    return", f"{wait}        time.sleep(0.01)\n    return"))
    with Running("run", "study.toml", "--workers", "2", "--quiet", cwd=tmp_path) as run:
        wait_for(
            lambda: store_is_ready(tmp_path / "study.db") and summary(tmp_path / "study.db")["told"] > 20, "20 tells"
        )
        during = json.loads(culmen("status", "study.db", "--json", cwd=tmp_path).stdout)
        seen.touch()
        assert run.end()[0] == 0
    after = json.loads(culmen("status", "study.db", "--json", cwd=tmp_path).stdout)
    assert during["state"].startswith("running (")
    assert 20 < during["told"] < 200
    assert not during["resumable"]
    assert (after["state"], after["told"], after["resumable"]) == (
        "finished (limit of evaluations reached)",
        200,
        False,
    )
    assert set(after["best"]) == {"x", "y"}
    shown = culmen("status", "study.db", cwd=tmp_path).stdout
    assert "finished (limit of evaluations reached)" in shown
    assert f"{after['best_value']:.10g}" in shown


def test_resume_with_a_larger_budget_goes_on_from_the_end(finished):
    done = culmen("resume", "study.db", cwd=finished)
    assert done.returncode == 0
    assert (
        "has finished (limit of evaluations reached); to continue, give a larger N: "
        "`culmen resume study.db --evaluations N`" in done.stdout
    )
    before = sequence(finished / "study.db")
    assert culmen("resume", "study.db", "--evaluations", 50, "--quiet", cwd=finished).returncode == 0
    after = sequence(finished / "study.db")
    assert after[: len(before)] == before
    assert summary(finished / "study.db")["told"] == 50


def test_the_end_of_a_resume_tells_this_start_from_the_former(finished):
    done = culmen("resume", "study.db", "--evaluations", 50, cwd=finished)
    assert "evaluations  50, 20 of them in this run" in done.stdout


def test_a_finished_study_that_goes_on_is_running(finished):
    with Running("resume", "study.db", "--evaluations", "100000", cwd=finished) as run:
        wait_for(lambda: summary(finished / "study.db")["owned"], "an owner")
        seen = set()

        def state():
            seen.add(json.loads(culmen("status", "study.db", "--json", cwd=finished).stdout)["state"][:9])
            return summary(finished / "study.db")["told"] > 40

        wait_for(state, "10 evaluations more")
        run.process.terminate()
        code, out, _ = run.end()
    assert seen == {"running ("}
    assert code == 75
    assert "To resume: culmen resume study.db\n" in out
    after = json.loads(culmen("status", "study.db", "--json", cwd=finished).stdout)
    assert (after["state"], after["resumable"]) == ("stopped", True)


def test_what_one_resume_is_given_holds_for_the_next_also_after_a_kill(finished):
    hold(finished, len(calls_of(finished)) + 15)
    with Running("resume", "study.db", "--evaluations", "60", "--workers", "1", cwd=finished) as run:
        wait_for(lambda: summary(finished / "study.db")["told"] > 35, "some evaluations more")
        run.process.kill()
        run.end()
    go_on(finished)
    done = culmen("resume", "study.db", cwd=finished)
    assert (done.returncode, done.stderr) == (0, "")
    assert summary(finished / "study.db")["told"] == 60
    assert "with 1 workers" in done.stdout


@pytest.fixture
def stopped(finished):
    """The folder of `finished`, whose study was resumed with a larger limit and stopped after 35 evaluations."""
    with Running("resume", "study.db", "--evaluations", "100000", cwd=finished) as run:
        wait_for(lambda: summary(finished / "study.db")["told"] > 35, "some evaluations more")
        run.process.terminate()
        run.end()
    return finished


def test_a_budget_below_what_was_done_is_refused(stopped):
    done = culmen("resume", "study.db", "--evaluations", 33, cwd=stopped)
    assert done.returncode == 2
    assert "evaluations already; a limit of 33 is below that" in done.stderr


def test_a_limit_of_the_file_that_was_passed_is_not_proposed(stopped):
    done = culmen("run", "study.toml", cwd=stopped)
    assert done.returncode == 2
    assert "resume it with `culmen resume study.db`, or restart it" in done.stderr


def test_a_study_that_ended_by_stagnation_says_how_it_goes_on(tmp_path):
    write_study(tmp_path)
    study = tmp_path / "study.toml"
    text = study.read_text().replace("evaluations = 400", "stagnation = 20")
    study.write_text(text)
    (tmp_path / "model.py").write_text("def f(p):\n    return (p['x'] - 1) ** 2\n")
    assert culmen("run", "study.toml", "-q", cwd=tmp_path).returncode == 0
    before = summary(tmp_path / "study.db")
    assert before["finished"] == "stagnation"
    same = culmen("run", "study.toml", cwd=tmp_path)
    assert "to continue, give a larger N: `culmen resume study.db --stagnation N`" in same.stdout
    study.write_text(text.replace("stagnation = 20", "stagnation = 60"))
    done = culmen("run", "study.toml", cwd=tmp_path)
    assert (done.returncode, "resume it with `culmen resume study.db --stagnation 60`" in done.stderr) == (2, True)
    assert culmen("resume", "study.db", "--stagnation", 60, "-q", cwd=tmp_path).returncode == 0
    assert summary(tmp_path / "study.db")["told"] > before["told"]
    study.write_text(text.replace("stagnation = 20", "evaluations = 5000"))
    done = culmen("run", "study.toml", cwd=tmp_path)
    assert "resume it with `culmen resume study.db --evaluations 5000 --stagnation N`" in done.stderr


def test_status_of_a_store_that_a_program_made(tmp_path):
    (tmp_path / "program.py").write_text(
        "import culmen\nculmen.minimize(lambda p: p['x'] ** 2, {'x': (-1, 1)}, budget=30, store='kept.db')\n"
    )
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, check=True, env=environment(), capture_output=True)
    status = culmen("status", "kept.db", cwd=tmp_path)
    assert status.returncode == 0, status.stderr
    assert "x" in status.stdout.split()


def test_what_a_program_began_goes_on_by_its_call_and_a_command_by_resume(tmp_path):
    (tmp_path / "program.py").write_text(
        "import culmen\ndef f(p):\n    return p['x'] ** 2\n"
        "for f, store in ((f, 'f.db'), (culmen.Command(['expr', '3']), 'c.db')):\n"
        "    culmen.minimize(f, {'x': (-1, 1)}, budget=10**6, wall_time_s=0.5, store=store, progress=False)\n"
    )
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, check=True, env=environment(), capture_output=True)
    status = culmen("status", "f.db", cwd=tmp_path).stdout
    assert "To resume: make the same call in Python, culmen.minimize(__main__.f, …, store='f.db')\n" in status
    assert re.search(r"evaluations +\d+/1000000(, \d+ more are stored and wait for an earlier one)? *\n", status)
    assert "To resume: culmen resume c.db\n" in culmen("status", "c.db", cwd=tmp_path).stdout
    before = summary(tmp_path / "c.db")["told"]
    resumed = culmen("resume", "c.db", "--evaluations", before + 5, "-q", cwd=tmp_path)
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert summary(tmp_path / "c.db")["told"] == before + 5


def test_a_study_goes_on_where_its_folder_was_moved_to(tmp_path):
    (tmp_path / "here").mkdir()
    write_study(tmp_path / "here", 30)
    (tmp_path / "here" / "model.py").write_text("def f(p):\n    return p['x'] ** 2 + p['y'] ** 2\n")
    assert culmen("run", "study.toml", "--quiet", cwd=tmp_path / "here").returncode == 0
    (tmp_path / "here").rename(tmp_path / "there")
    done = culmen("resume", "study.db", "--evaluations", 40, "--quiet", cwd=tmp_path / "there")
    assert (done.returncode, done.stderr) == (0, "")
    assert summary(tmp_path / "there" / "study.db")["told"] == 40


def test_limits_that_were_edited_in_the_file_are_named_as_options_of_resume(finished):
    study = finished / "study.toml"
    study.write_text(study.read_text().replace("evaluations = 30", "evaluations = 45\ntarget = -1.0"))
    done = culmen("run", "study.toml", cwd=finished)
    assert done.returncode == 2
    assert "with `culmen resume study.db --evaluations 45 --target -1.0`, or restart it" in done.stderr
    assert culmen("resume", "study.db", "--evaluations", 45, "--target", "-1.0", cwd=finished).returncode == 0
    assert summary(finished / "study.db")["told"] == 45


def test_a_wall_time_of_0_removes_the_limit(tmp_path):
    write_study(tmp_path, 10**6)
    assert culmen("run", "study.toml", "--wall-time", "0.5", "-q", cwd=tmp_path).returncode == 0
    store = tmp_path / "study.db"
    assert stop_of(store)["wall_time_s"] == 0.5
    more = ("--wall-time", "0", "--evaluations", summary(store)["told"] + 20, "-q")
    done = culmen("resume", "study.db", *more, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert summary(store)["finished"] == "evaluations"
    assert "wall_time_s" not in stop_of(store)
    assert culmen("resume", "study.db", "--wall-time", "-1", cwd=tmp_path).returncode == 2


def test_a_wall_time_of_0_ends_no_study(tmp_path):
    write_study(tmp_path, 20)
    study = tmp_path / "study.toml"
    study.write_text(study.read_text().replace("evaluations = 20", "wall_time_s = 0"))
    done = culmen("run", "study.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "at least one of evaluations, target, stagnation and wall_time_s must be given" in done.stderr
    with pytest.raises(InputError, match="at least one of budget, target, stagnation and wall_time_s must be given"):
        minimize(lambda p: p["x"], {"x": (0, 1)}, wall_time_s=0)


def stop_of(store):
    return open_store(store).begun.configuration["stop"]


def test_a_lower_target_and_a_wall_time_can_be_given_to_resume(finished):
    assert culmen("run", "study.toml", "--store", "t.db", "--target", "1e9", "-q", cwd=finished).returncode == 0
    assert summary(finished / "t.db")["finished"] == "target"
    assert "has finished (target reached)" in culmen("resume", "t.db", cwd=finished).stdout
    again = culmen("resume", "t.db", "--target", "-1", "--wall-time", "100", "-q", cwd=finished)
    assert (again.returncode, again.stderr) == (0, "")
    assert summary(finished / "t.db")["told"] == 30
