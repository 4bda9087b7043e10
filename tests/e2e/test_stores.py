"""What `run`, `resume` and `status` say of stores: there already, in use, of another study, on a full disk."""

import json
import os
import re
import subprocess
import sys

import pytest
from harness import (
    Running,
    calls_of,
    culmen,
    environment,
    outcomes,
    sequence,
    store_is_ready,
    summary,
    wait_for,
    write_study,
)


@pytest.fixture
def finished(tmp_path):
    write_study(tmp_path, 30)
    assert culmen("run", "study.toml", "--quiet", cwd=tmp_path).returncode == 0
    return tmp_path


def test_running_a_finished_study_again_shows_it_and_evaluates_nothing(finished):
    before = len(calls_of(finished))
    done = culmen("run", "study.toml", cwd=finished)
    assert done.returncode == 0
    assert (
        "The study in study.db has finished (evaluations used up); `culmen resume study.db --evaluations N` with a "
        "larger N goes on; `culmen run` with --overwrite, or --store PATH, runs it anew." in done.stdout
    )
    assert done.stderr == ""
    assert "best value" in done.stdout
    assert len(calls_of(finished)) == before


def test_another_store_runs_it_anew(finished):
    before = len(calls_of(finished))
    assert culmen("run", "study.toml", "--store", "again.db", "--quiet", cwd=finished).returncode == 0
    assert len(calls_of(finished)) >= before + 30
    assert sequence(finished / "again.db") == sequence(finished / "study.db")


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("\n[space]", "\nseed = 8\n[space]", "seed 1 there, 8 here"),
        ("upper = 5", "upper = 6", "parameter x: upper 5 there, 6 here"),
        ("model.py:f", "model.py:g", "evaluator python model.py:f there, model.py:g here"),
        ('"cmaes"', '"random"', "optimizer cmaes there, random here"),
        ("[evaluator]", "z = { lower = 0, upper = 1 }\n[evaluator]", "parameter z is here only"),
    ],
)
def test_a_store_of_another_study_is_refused(finished, old, new, difference):
    text = (finished / "study.toml").read_text()
    assert old in text
    (finished / "study.toml").write_text(text.replace(old, new, 1))
    done = culmen("run", "study.toml", cwd=finished)
    assert done.returncode == 2
    assert re.fullmatch(
        rf"culmen: study\.db holds another study \('study': {re.escape(difference)}[^)]*\); "
        r"--store PATH gives this study a store of its own\n",
        done.stderr,
    ), done.stderr
    assert summary(finished / "study.db")["told"] == 30


def test_a_finished_study_is_quiet_where_that_is_wanted(finished):
    for words in (["run", "study.toml", "-q"], ["resume", "study.db", "-q"]):
        done = culmen(*words, cwd=finished)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path):
    write_study(tmp_path)
    (tmp_path / "study.db").write_text("my notes")
    for words in (["run", "study.toml"], ["resume", "study.db"], ["status", "study.db"]):
        done = culmen(*words, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith("culmen: ")
        assert "study.db" in done.stderr
        assert len(done.stderr.splitlines()) == 1
        advice = "; --store PATH gives this study a store of its own\n"
        assert done.stderr.endswith(advice) == (words[0] == "run")
    assert (tmp_path / "study.db").read_text() == "my notes"


@pytest.mark.parametrize("command", ["resume", "status"])
def test_a_store_that_is_not_there_is_bad_input(tmp_path, command):
    done = culmen(command, "nothing.db", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "culmen: there is no store nothing.db\n")
    assert not list(tmp_path.iterdir())


def test_a_store_that_is_not_there_is_named_with_its_neighbour(finished):
    done = culmen("status", "studi.db", cwd=finished)
    assert (done.returncode, done.stderr) == (2, "culmen: there is no store studi.db; did you mean 'study.db'?\n")


def test_a_store_for_a_study_file_and_the_other_way_round_say_what_to_type(finished):
    def answer(*words):
        done = culmen(*words, cwd=finished)
        assert done.returncode == 2
        return done.stderr

    resume = "culmen: study.db is a store, not a study file; to resume it, write `culmen resume study.db`\n"
    assert answer("run", "study.db") == resume
    for command in ("resume", "status"):
        there = f"culmen: study.toml is a study file, not a store; its store is study.db: `culmen {command} study.db`\n"
        assert answer(command, "study.toml") == there
    (finished / "other.toml").write_text((finished / "study.toml").read_text())
    run = "culmen: other.toml is a study file, not a store; `culmen run other.toml` runs it\n"
    assert answer("resume", "other.toml") == answer("status", "other.toml") == run


def test_an_unfinished_study_is_resumed_not_run(tmp_path):
    write_study(tmp_path)
    with Running("run", "study.toml", "--workers", "2", cwd=tmp_path) as run:
        wait_for(lambda: len(calls_of(tmp_path)) > 20, "20 calls")
        run.process.kill()
        run.process.wait(10)
    done = culmen("run", "study.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "`culmen resume study.db` goes on, --overwrite begins anew" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_second_master_is_refused_and_the_first_goes_on(tmp_path):
    write_study(tmp_path, 100_000)
    with Running("run", "study.toml", "--workers", "2", "--quiet", cwd=tmp_path) as first:
        wait_for(lambda: len(calls_of(tmp_path)) > 10, "10 calls")
        again = culmen("run", "study.toml", cwd=tmp_path)
        resumed = culmen("resume", "study.db", cwd=tmp_path)
        before = summary(tmp_path / "study.db")["told"]
        wait_for(lambda: summary(tmp_path / "study.db")["told"] > before + 20, "20 evaluations more")
        first.process.terminate()
        code, _, err = first.end()
    assert again.returncode == 2
    assert "study.db is in use: " in again.stderr
    assert resumed.returncode != 0
    assert str(first.process.pid) in resumed.stderr
    assert len(resumed.stderr.splitlines()) == 1
    assert (code, err) == (75, "")


def test_status_while_it_runs_and_afterwards(tmp_path):
    write_study(tmp_path, 800)
    with Running("run", "study.toml", "--workers", "2", "--quiet", cwd=tmp_path) as run:
        wait_for(
            lambda: store_is_ready(tmp_path / "study.db") and summary(tmp_path / "study.db")["told"] > 20, "20 tells"
        )
        during = json.loads(culmen("status", "study.db", "--json", cwd=tmp_path).stdout)
        assert run.end()[0] == 0
    after = json.loads(culmen("status", "study.db", "--json", cwd=tmp_path).stdout)
    assert during["state"].startswith("running (")
    assert 20 < during["told"] < 800
    assert not during["resumable"]
    assert (after["state"], after["told"], after["resumable"]) == ("finished (evaluations used up)", 800, False)
    assert set(after["best"]) == {"x", "y"}
    shown = culmen("status", "study.db", cwd=tmp_path).stdout
    assert "finished (evaluations used up)" in shown
    assert f"{after['best_value']:.10g}" in shown


def test_resume_with_a_larger_budget_goes_on_from_the_end(finished):
    done = culmen("resume", "study.db", cwd=finished)
    assert done.returncode == 0
    assert (
        "has finished (evaluations used up); `culmen resume study.db --evaluations N` with a larger N goes on"
        in done.stdout
    )
    before = sequence(finished / "study.db")
    assert culmen("resume", "study.db", "--evaluations", 50, "--quiet", cwd=finished).returncode == 0
    after = sequence(finished / "study.db")
    assert after[: len(before)] == before
    assert summary(finished / "study.db")["told"] == 50


def test_a_larger_budget_for_a_finished_study_is_no_run(finished):
    done = culmen("run", "study.toml", "--evaluations", 50, cwd=finished)
    assert done.returncode == 2
    assert done.stderr == (
        "culmen: study.db holds this study, finished after 30 evaluations; "
        "`culmen resume study.db --evaluations 50` goes on, --overwrite begins anew\n"
    )
    assert culmen("run", "study.toml", "--evaluations", 30, "--quiet", cwd=finished).returncode == 0


def test_the_end_of_a_resume_tells_this_start_from_the_former(finished):
    done = culmen("resume", "study.db", "--evaluations", 50, cwd=finished)
    assert "evaluations  50, 20 of them in this start" in done.stdout


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
    assert "To go on: culmen resume study.db\n" in out
    after = json.loads(culmen("status", "study.db", "--json", cwd=finished).stdout)
    assert (after["state"], after["resumable"]) == ("stopped", True)


def test_what_one_resume_is_given_holds_for_the_next_also_after_a_kill(finished):
    with Running("resume", "study.db", "--evaluations", "60", "--workers", "1", cwd=finished) as run:
        wait_for(lambda: summary(finished / "study.db")["told"] > 35, "some evaluations more")
        run.process.kill()
        run.end()
    done = culmen("resume", "study.db", cwd=finished)
    assert (done.returncode, done.stderr) == (0, "")
    assert summary(finished / "study.db")["told"] == 60
    assert "with 1 workers" in done.stdout


def test_a_budget_below_what_was_done_is_refused(finished):
    with Running("resume", "study.db", "--evaluations", "100000", cwd=finished) as run:
        wait_for(lambda: summary(finished / "study.db")["told"] > 35, "some evaluations more")
        run.process.terminate()
        run.end()
    done = culmen("resume", "study.db", "--evaluations", 33, cwd=finished)
    assert done.returncode == 2
    assert "evaluations already; a limit of 33 is below that" in done.stderr


def test_an_edited_function_is_noticed_at_each_start(finished):
    with (finished / "model.py").open("a") as file:
        file.write("\n# edited\n")
    note = (
        "culmen: note: model.py has changed since this study was begun; earlier values are kept as they are; "
        "`culmen run --overwrite` begins anew\n"
    )
    assert culmen("run", "study.toml", cwd=finished).stderr == note
    again = culmen("resume", "study.db", "--evaluations", 50, cwd=finished)
    assert (again.returncode, again.stderr) == (0, note)
    assert culmen("run", "study.toml", "--store", "again.db", "--quiet", cwd=finished).stderr == ""


def test_a_study_that_could_not_begin_leaves_no_store_in_the_way(tmp_path):
    write_study(tmp_path, 20)
    right = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(right.replace("model.py:f", "model.py:g"))
    wrong = culmen("run", "study.toml", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "has no function 'g' (it has: f)" in wrong.stderr
    assert len(wrong.stderr.splitlines()) == 1
    assert {path.name for path in tmp_path.iterdir()} - {"__pycache__"} == {"model.py", "study.toml"}
    (tmp_path / "study.toml").write_text(right)
    assert culmen("run", "study.toml", "--quiet", cwd=tmp_path).returncode == 0


@pytest.fixture
def small_disk(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_ends_the_run_with_a_sentence_and_loses_nothing(tmp_path, small_disk):
    write_study(tmp_path, 300)
    (tmp_path / "model.py").write_text("def f(p):\n    return [p['x'] / 1000 + i for i in range(1000)]\n")
    text = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(text.replace("[stop]", 'result = "residuals"\n[stop]'))
    store = small_disk / "study.db"
    done = culmen("run", "study.toml", "--store", store, cwd=tmp_path)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert str(store) in done.stderr
    assert "full" in done.stderr
    told = outcomes(store)
    assert 0 < len(told) < 300
    subprocess.run(["mount", "-o", "remount,size=32m", small_disk], check=True)
    resumed = culmen("resume", store, "--quiet", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    assert len(outcomes(store)) == 300
    assert all(outcomes(store)[number] == outcome for number, outcome in told.items())


def test_asking_again_does_not_turn_a_study_of_failures_into_success(tmp_path):
    write_study(tmp_path, 20)
    (tmp_path / "model.py").write_text("def f(p):\n    return p['z']\n")
    for words in (("run", "study.toml"), ("run", "study.toml"), ("resume", "study.db")):
        assert culmen(*words, cwd=tmp_path).returncode == 1, words


def test_where_all_fail_the_end_says_what_to_look_at(tmp_path):
    write_study(tmp_path, 1000)
    (tmp_path / "model.sh").write_text("#!/bin/sh\necho no grid >&2\nexit 3\n")
    (tmp_path / "model.sh").chmod(0o755)
    study = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(study.replace('python = "model.py:f"', 'command = ["./model.sh"]'))
    for limit, said in (
        (1000, "the first 100 evaluations of this start all failed; "),
        (20, "all evaluations failed; "),
    ):
        done = culmen("run", "study.toml", "--overwrite", "--evaluations", limit, cwd=tmp_path)
        first, *_, last = done.stderr.splitlines()
        assert done.returncode == 1
        assert first.startswith(f"culmen: {said}")
        assert last == (
            "culmen: what it printed is in study.work/0; `culmen check` tries a few; when that is mended, "
            "`culmen run --overwrite` begins anew, and `culmen resume study.db` goes on after the failures"
        )
        assert "To go on" not in done.stdout


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
    assert "`culmen resume study.db --stagnation N` with a larger N goes on" in same.stdout
    study.write_text(text.replace("stagnation = 20", "stagnation = 60"))
    done = culmen("run", "study.toml", cwd=tmp_path)
    assert (done.returncode, "`culmen resume study.db --stagnation 60` goes on" in done.stderr) == (2, True)
    assert culmen("resume", "study.db", "--stagnation", 60, "-q", cwd=tmp_path).returncode == 0
    assert summary(tmp_path / "study.db")["told"] > before["told"]
    study.write_text(text.replace("stagnation = 20", "evaluations = 5000"))
    done = culmen("run", "study.toml", cwd=tmp_path)
    assert "`culmen resume study.db --evaluations 5000 --stagnation N` goes on" in done.stderr


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
    assert "To go on: the same call in Python, culmen.minimize(__main__.f, …, store='f.db')\n" in status
    assert re.search(r"evaluations +\d+/1000000 *\n", status)
    assert "To go on: culmen resume c.db\n" in culmen("status", "c.db", cwd=tmp_path).stdout
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
    assert "`culmen resume study.db --evaluations 45 --target -1.0` goes on, --overwrite begins anew" in done.stderr
    assert culmen("resume", "study.db", "--evaluations", 45, "--target", "-1.0", cwd=finished).returncode == 0
    assert summary(finished / "study.db")["told"] == 45


def test_a_lower_target_and_a_wall_time_can_be_given_to_resume(finished):
    assert culmen("run", "study.toml", "--store", "t.db", "--target", "1e9", "-q", cwd=finished).returncode == 0
    assert summary(finished / "t.db")["finished"] == "target"
    assert "has finished (target reached)" in culmen("resume", "t.db", cwd=finished).stdout
    again = culmen("resume", "t.db", "--target", "-1", "--wall-time", "100", "-q", cwd=finished)
    assert (again.returncode, again.stderr) == (0, "")
    assert summary(finished / "t.db")["told"] == 30


def test_overwrite_begins_anew_but_never_on_what_is_no_study(finished):
    before = summary(finished / "study.db")["last_outcome_s"]
    assert culmen("run", "study.toml", "--overwrite", "-q", cwd=finished).returncode == 0
    after = summary(finished / "study.db")
    assert (after["told"], after["epoch"]) == (30, 1)
    assert after["last_outcome_s"] > before
    (finished / "thesis.db").write_text("years of work")
    assert culmen("run", "study.toml", "--overwrite", "--store", "thesis.db", cwd=finished).returncode == 2
    assert (finished / "thesis.db").read_text() == "years of work"


def test_a_study_that_failed_throughout_names_what_begins_anew(tmp_path):
    write_study(tmp_path, 30)
    (tmp_path / "model.py").write_text("def f(p):\n    return p['z']\n")
    assert culmen("run", "study.toml", "--quiet", cwd=tmp_path).returncode == 1
    done = culmen("run", "study.toml", cwd=tmp_path)
    assert done.returncode == 1
    assert "--overwrite, or --store PATH, runs it anew" in done.stdout
