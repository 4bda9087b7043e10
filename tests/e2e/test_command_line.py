"""The command line as a user sees it: help, mistakes, failures, exit codes."""

import json
import re
import shlex
import subprocess
import time

import pytest
from harness import CULMEN, HANGS_S, Running, culmen, environment, outcomes, patience, summary, write_fit, write_study

pytestmark = pytest.mark.no_numbers


@pytest.mark.alone
def test_help_is_quick_and_names_the_exit_codes(tmp_path):
    took_s = []
    for _ in range(3):
        start = time.monotonic()
        done = culmen("--help", cwd=tmp_path)
        took_s.append(time.monotonic() - start)
    assert "75" in done.stdout
    assert min(took_s) <= patience(0.3), f"culmen --help took {took_s}"


def test_help_says_in_80_columns_what_each_command_is_for(tmp_path):
    shown = culmen("--help", cwd=tmp_path, COLUMNS="80").stdout
    commands = shown.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert len(commands) > 10
    assert all(re.fullmatch(r"  \w+ +[A-Z].{0,66}\.", line) and "..." not in line for line in commands), shown


@pytest.mark.parametrize("words", [(), ("run",), ("launch",), ("bench", "pingpong"), ("tune", "app")], ids=" ".join)
def test_h_is_short_for_help(words, tmp_path):
    short, long = (culmen(*words, option, cwd=tmp_path) for option in ("-h", "--help"))
    assert (short.returncode, short.stdout) == (0, long.stdout)
    assert short.stdout.startswith("Usage: culmen")


def test_culmen_alone_shows_the_help(tmp_path):
    """On standard output, so that `culmen | less` shows it."""
    done = culmen(cwd=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == (culmen("--help", cwd=tmp_path).stdout, "", 2)


def test_version_and_optimizers(tmp_path):
    assert culmen("--version", cwd=tmp_path).stdout.startswith("culmen 0.")
    table = culmen("optimizers", cwd=tmp_path).stdout
    assert "Levenberg-Marquardt" in table and "keep_best" in table
    listed = json.loads(culmen("optimizers", "--json", cwd=tmp_path).stdout)
    names = [entry["name"] for entry in listed]
    assert names == sorted(names)
    assert {"bfgs", "cmaes", "evolution", "grid", "lm", "slsqp"} <= set(names)
    there = {entry["name"]: entry["library"].split()[0] for entry in listed if entry["library"]}
    assert there == {"nevergrad:": "nevergrad", "optuna:": "optuna", "pycma": "cma", "pygmo:": "pygmo"}
    samplers = json.loads(culmen("optimizers", "optuna", "--json", cwd=tmp_path).stdout)
    assert {"optuna:TPESampler", "optuna:GPSampler"} <= {entry["name"] for entry in samplers}
    assert "pycma" in culmen("optimizers", "pycma", cwd=tmp_path).stdout.splitlines()
    order = next(option for option in listed[names.index("grid")]["options"] if option["name"] == "order")
    assert (order["type"], order["words"], order["default"]) == ("word", ["spread", "rows"], "spread")


@pytest.mark.parametrize(
    "words", [["rn"], ["run"], ["run", "study.toml", "--wrkers", "3"], ["run", "x", "--workers", "0"]]
)
def test_a_wrong_command_line_is_bad_input(tmp_path, words):
    assert culmen(*words, cwd=tmp_path).returncode == 2


def test_a_wrong_study_file_is_one_sentence_a_mistake_and_leaves_nothing(tmp_path):
    write_study(tmp_path)
    with (tmp_path / "study.toml").open("a") as file:
        file.write("wrkers = 3\n")
    done = culmen("run", "study.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("culmen: study.toml: [stop] has no key 'wrkers'")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "study.db").exists()


def test_a_run_in_a_log_prints_plain_lines_and_a_table(tmp_path):
    write_study(tmp_path, 800)
    done = culmen("run", "study.toml", "--workers", 2, cwd=tmp_path)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    lines = [line for line in done.stdout.splitlines() if line.startswith("culmen: ")]
    assert lines
    assert any("/800 evaluations, best " in line for line in lines), lines
    assert "best value" in done.stdout
    assert "study.db" in done.stdout


def test_a_terminal_without_the_characters_shows_others(tmp_path):
    write_fit(tmp_path, "def f(p):\n    return [p['x'] - 1, p['x'] - 2]\n", "x = { lower = 0, upper = 5 }", 30)
    done = culmen("run", "study.toml", cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "for Delta chi^2 = 1" in done.stdout  # Δχ²


def test_a_bar_through_a_pipe(tmp_path):
    write_study(tmp_path, 60)
    done = culmen("run", "study.toml", cwd=tmp_path, CULMEN_PROGRESS="bar", COLUMNS="120", TERM="xterm")
    assert "60/60 evaluations  best" in done.stdout


def test_failures_are_counted_and_the_rest_goes_on(tmp_path):
    write_study(tmp_path, 60)
    (tmp_path / "model.py").write_text("def f(p):\n    return 1 / (p['x'] > 0)\n")
    done = culmen("run", "study.toml", cwd=tmp_path)
    assert done.returncode == 0
    rows = outcomes(tmp_path / "study.db").values()
    failed = sum(status == "failed" for status, *_ in rows)
    assert 0 < failed < 60
    assert summary(tmp_path / "study.db")["failed"] == failed
    assert any(line.split() == ["failed", str(failed)] for line in done.stdout.splitlines())
    first = min(number for number, (status, *_) in outcomes(tmp_path / "study.db").items() if status == "failed")
    listed = f"failed {failed} {first} ZeroDivisionError: division by zero"
    for shown in (done.stdout, culmen("status", "study.db", cwd=tmp_path).stdout):
        assert any(listed in " ".join(line.replace("│", " ").split()) for line in shown.splitlines()), shown
    (entry,) = json.loads(culmen("status", "study.db", "--json", cwd=tmp_path).stdout)["failures"]
    assert (entry["status"], entry["count"], entry["first"]) == ("failed", failed, first)
    assert entry["message"].startswith("ZeroDivisionError: division by zero")
    assert "folder" not in entry


def test_a_failed_command_is_listed_with_its_folder(tmp_path):
    write_study(tmp_path, 6)
    text = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(text.replace('python = "model.py:f"', 'command = ["./model.sh"]'))
    (tmp_path / "model.sh").write_text("#!/bin/sh\necho no grid >&2\n[ $CULMEN_EVALUATION != 2 ] && echo 3\n")
    (tmp_path / "model.sh").chmod(0o755)
    done = culmen("run", "study.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (entry,) = json.loads(culmen("status", "study.db", "--json", cwd=tmp_path).stdout)["failures"]
    assert (entry["count"], entry["first"], entry["folder"]) == (1, 2, str(tmp_path / "study.work" / "2"))
    assert (tmp_path / "study.work" / "2" / "stderr.txt").read_text() == "no grid\n"
    assert "study.work/2)" in "".join(done.stdout.replace("│", " ").split())


def test_when_every_evaluation_failed_the_first_failure_is_shown_in_full(tmp_path):
    write_study(tmp_path, 20)
    (tmp_path / "model.py").write_text("def f(p):\n    raise ValueError('negative mass')\n")
    done = culmen("run", "study.toml", cwd=tmp_path)
    assert done.returncode == 1
    assert "culmen: all evaluations failed; the first: evaluation 0 failed: ValueError: negative mass" in done.stderr
    assert "model.py" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_study_of_nothing_but_failures_is_given_up_resumably(tmp_path):
    write_study(tmp_path, 100)
    text = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(text.replace("[stop]", "give_up_after = 30\n[stop]"))
    right = (tmp_path / "model.py").read_text()
    (tmp_path / "model.py").write_text("def f(p):\n    raise ValueError('negative mass')\n")
    done = culmen("run", "study.toml", cwd=tmp_path)
    assert done.returncode == 1
    assert "culmen: the first 30 evaluations of this start all failed; evaluation 0 failed: ValueError" in done.stderr
    (tmp_path / "model.py").write_text(right)
    assert culmen("resume", "study.db", cwd=tmp_path).returncode == 0
    assert summary(tmp_path / "study.db")["told"] == 100


def test_on_failure_stop_ends_the_run_resumably(tmp_path):
    write_study(tmp_path, 20)
    (tmp_path / "model.py").write_text("def f(p):\n    raise ValueError('negative mass')\n")
    text = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(text.replace("[stop]", 'on_failure = "stop"\n[stop]'))
    done = culmen("run", "study.toml", cwd=tmp_path)
    assert done.returncode == 1
    assert "negative mass" in done.stderr
    (tmp_path / "model.py").write_text("def f(p):\n    return p['x'] ** 2\n")
    assert culmen("resume", "study.db", cwd=tmp_path).returncode == 0
    assert summary(tmp_path / "study.db")["told"] == 20


@pytest.mark.alone
def test_a_wall_time_ends_a_run_in_time_with_success(tmp_path):
    write_study(tmp_path, 100_000)
    with (tmp_path / "study.toml").open("a") as file:
        file.write("wall_time_s = 0.5\n")
    start = time.monotonic()
    done = culmen("run", "study.toml", cwd=tmp_path)
    assert done.returncode == 0
    assert time.monotonic() - start < patience(5.0)
    assert "culmen resume study.db" in done.stdout


@pytest.mark.parametrize("progress", ["lines", "bar"])
def test_a_reader_that_leaves_does_not_end_the_study(tmp_path, progress):
    write_study(tmp_path, 300)
    with Running("run", "study.toml", "--workers", "2", cwd=tmp_path, CULMEN_PROGRESS=progress, TERM="xterm") as run:
        run.process.stdout.readline() if progress == "lines" else run.process.stdout.read(20)
        run.process.stdout.close()
        code = run.process.wait(HANGS_S)
        errors = run.process.stderr.read()
    assert (code, errors) == (0, "")
    assert summary(tmp_path / "study.db")["told"] == 300


def test_a_closed_output_is_no_traceback(tmp_path):
    typed = f"{shlex.join(map(str, CULMEN))} 2>err | true; cat err"
    done = subprocess.run(["sh", "-c", typed], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == ""


def test_streams_that_are_not_open_change_nothing(tmp_path):
    write_study(tmp_path, 30)
    command = shlex.join(map(str, CULMEN))
    typed = f"{command} run study.toml <&- >&- 2>&-; echo $?; {command} status study.db >&- 2>err; echo $?; cat err"
    done = subprocess.run(["sh", "-c", typed], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.stdout.split() == ["0", "0"]
    assert summary(tmp_path / "study.db")["told"] == 30
