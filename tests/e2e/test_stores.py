"""Messages of `run`, `resume` and `status` about stores: there already, in use, of another study, on a full disk."""

import os
import re
import subprocess

import pytest
from harness import HANGS_S, Running, calls_of, culmen, outcomes, sequence, summary, wait_for, write_study

pytestmark = pytest.mark.no_numbers


def test_running_a_finished_study_again_shows_it_and_evaluates_nothing(finished):
    before = len(calls_of(finished))
    done = culmen("run", "study.toml", cwd=finished)
    assert done.returncode == 0
    assert (
        "The study in study.db has finished (limit of evaluations reached); to continue, give a larger N: "
        "`culmen resume study.db --evaluations N`; "
        "restart it with `culmen run study.toml --overwrite`, or run it with --store PATH." in done.stdout
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
        ('"cmaes", noise = "off"', '"random"', "optimizer cmaes there, random here"),
        ("[evaluator]", "z = { lower = 0, upper = 1 }\n[evaluator]", "parameter z is only here"),
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
        r"give this study its own store with --store PATH, or replace the other study with --overwrite\n",
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
        advice = "; give this study its own store with --store PATH\n"
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
        run.process.wait(HANGS_S)
    done = culmen("run", "study.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "resume it with `culmen resume study.db`, or restart it with --overwrite" in done.stderr
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


def test_a_larger_budget_for_a_finished_study_is_no_run(finished):
    done = culmen("run", "study.toml", "--evaluations", 50, cwd=finished)
    assert done.returncode == 2
    assert done.stderr == (
        "culmen: study.db holds this study, finished after 30 evaluations; "
        "resume it with `culmen resume study.db --evaluations 50`, or restart it with --overwrite\n"
    )
    assert culmen("run", "study.toml", "--evaluations", 30, "--quiet", cwd=finished).returncode == 0


def test_an_edited_function_is_refused_until_the_change_is_accepted(finished):
    with (finished / "model.py").open("a") as file:
        file.write("\nedited = True\n")
    changed = "model.py has changed since this study was started; "
    kept = f"culmen: note: {changed}earlier values are kept unchanged"
    restart = "to restart, write `culmen run --overwrite`\n"
    for words, again in ((["run", "study.toml"], "run study.toml"), (["resume", "study.db"], "run")):
        done = culmen(*words, cwd=finished)  # nothing is evaluated
        assert (done.returncode, done.stderr) == (0, f"{kept}; to restart, write `culmen {again} --overwrite`\n")
    more = culmen("resume", "study.db", "--evaluations", 50, cwd=finished)
    assert (more.returncode, more.stderr) == (
        2,
        f"culmen: study.db: {changed}earlier and new values do not fit together; "
        f"to continue nevertheless, add --accept-changes; {restart}",
    )
    more = culmen("resume", "study.db", "--evaluations", 50, "--accept-changes", cwd=finished)
    assert (more.returncode, more.stderr) == (0, f"{kept}\n")
    more = culmen("resume", "study.db", "--evaluations", 51, cwd=finished)
    assert (more.returncode, more.stderr) == (0, "")
    assert culmen("run", "study.toml", "--store", "again.db", "--quiet", cwd=finished).stderr == ""


@pytest.mark.parametrize("launch", [(), ("launch", "-n", "2")])
def test_an_edited_module_of_the_model_is_refused_until_the_change_is_accepted(tmp_path, launch):
    write_study(tmp_path, 20)
    model = (tmp_path / "model.py").read_text()
    (tmp_path / "model.py").write_text(f"import near\n{model}")
    (tmp_path / "near.py").write_text("import far\n")
    (tmp_path / "far.py").write_text("x = 1\n")
    assert culmen(*launch, "run", "study.toml", "--quiet", cwd=tmp_path).returncode == 0
    (tmp_path / "far.py").write_text("x = 2\n")
    more = culmen(*launch, "resume", "study.db", "--evaluations", 30, "-q", cwd=tmp_path)
    assert more.returncode == 2
    assert "study.db: the module 'far' has changed since this study was started; " in more.stderr
    assert "to continue nevertheless, add --accept-changes" in more.stderr
    words = ("resume", "study.db", "--evaluations", 30, "-q")
    assert culmen(*launch, *words, "--accept-changes", cwd=tmp_path).returncode == 0
    again = culmen(*launch, "resume", "study.db", "--evaluations", 31, "-q", cwd=tmp_path)
    assert (again.returncode, again.stderr) == (0, "")


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
    assert f"free space, then resume with `culmen resume {store}`" in done.stderr
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
            "culmen: its output is in study.work/0; find the mistake with `culmen check`, then restart with "
            "`culmen run study.toml --overwrite`, or resume after the failures with `culmen resume study.db`"
        )
        assert "To go on" not in done.stdout


@pytest.mark.parametrize(
    "wrong",
    [
        ("--listen", "udp://127.0.0.1:1"),
        ("--listen", "wss://1.2.3.4:7443"),
        ("--listen", "tcp://127.0.0.1:0", "--token-file", "/dev/null"),
        ("--team-size", "3"),
    ],
)
def test_a_refused_overwrite_loses_nothing(finished, wrong):
    before = (finished / "study.db").read_bytes()
    files = sorted(finished.iterdir())
    assert culmen("run", "study.toml", "--overwrite", *wrong, cwd=finished).returncode == 2
    assert (finished / "study.db").read_bytes() == before
    assert sorted(finished.iterdir()) == files
    assert culmen("status", "study.db", cwd=finished).returncode == 0


def test_an_overwrite_by_a_function_that_is_missing_loses_nothing(finished):
    before = (finished / "study.db").read_bytes()
    study = (finished / "study.toml").read_text()
    (finished / "study.toml").write_text(re.sub(r":(\w+)\"", r':no_\1"', study))
    assert (finished / "study.toml").read_text() != study
    assert culmen("run", "study.toml", "--overwrite", cwd=finished).returncode != 0
    assert (finished / "study.db").read_bytes() == before


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
    assert "restart it with `culmen run study.toml --overwrite`, or run it with --store PATH" in done.stdout
