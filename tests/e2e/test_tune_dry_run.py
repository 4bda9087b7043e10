"""`culmen tune command --dry-run` and `culmen tune hpl --dry-run`: they show the plan, and run and write nothing."""

import shutil
import subprocess

import pytest
from harness import EXAMPLES, culmen

pytestmark = pytest.mark.no_numbers

FAKE = "#!/bin/sh\necho run >> $0.runs\n"
RECIPE = """
[space]
n = { type = "integer", lower = 1, upper = 9, initial = 8 }
x = { lower = 1.0, upper = 100.0, scale = "log", initial = 10.0 }
depth = { choices = [1, 2], active_when = "n > 5", initial = 1 }
fixed = { value = 3 }
[evaluator]
command = ["./app", "{n}", "{fixed}"]
MORE
[stop]
evaluations = 12
wall_time_s = 90
[tune]
rounds = 4
"""


def write(folder, more=""):
    for name in ("app", "xhpl"):
        (folder / name).write_text(FAKE)
        (folder / name).chmod(0o755)
    (folder / "app.toml").write_text(RECIPE.replace("MORE", more))


def dry(folder, *words):
    """The output. Nothing may run, and no file may appear."""
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    done = culmen("tune", *words, "--dry-run", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "Nothing was run."
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    return done.stdout


def test_the_parameters_the_limits_and_the_plan_are_shown(tmp_path):
    write(tmp_path)
    said = dry(tmp_path, "command", "app.toml")
    assert "3 parameters, infinitely many settings:" in said
    assert "  n: 1 to 9 (present: 8)\n" in said
    assert "  x: 1 to 100, logarithmic (present: 10)\n" in said
    assert "  depth: 1, 2, if n > 5 (present: 1)\n" in said
    assert "Fixed: fixed = 3\n" in said
    assert "Objective: the smallest wall time\n" in said
    assert "Time limit of a run: none; time_limit_s in [evaluator] sets one\n" in said
    assert "Time limit of the search: 0:01:30\n" in said
    plan = "Plan: 1 run with the present settings, at most 12 runs of the search, and 4 rounds with 2 or 3 runs each\n"
    assert plan in said
    variables = "CULMEN_PARAM_X=10 x=10 CULMEN_PARAM_DEPTH=1 depth=1"
    assert f"this line runs:\n  {variables} {tmp_path}/app 8 3\n" in said


def test_the_lines_with_the_present_settings_build_and_run_the_program(tmp_path):
    shutil.copytree(EXAMPLES / "20_tune_command", tmp_path, dirs_exist_ok=True)
    said = dry(tmp_path, "command", "matmul.toml")
    assert "6 parameters, 1\u202f152 settings:" in said or "6 parameters, 1 152 settings:" in said
    build, run = said.partition("these lines run:\n")[2].splitlines()[:2]
    assert "./build.sh -O2 false x86-64" in build
    subprocess.run(["sh", "-c", f"{build} && {run}"], check=True, capture_output=True, cwd="/")


def test_a_command_that_no_line_can_say_is_shown_as_it_is(tmp_path):
    write(tmp_path, more='stdin = "json"')
    said = dry(tmp_path, "command", "app.toml")
    assert "The command, with values in place of the braces:\n  ./app '{n}' '{fixed}'\n" in said


def test_a_wrong_file_is_a_sentence_also_without_a_run(tmp_path):
    write(tmp_path)
    (tmp_path / "app.toml").write_text(RECIPE.replace("MORE", "").replace("upper = 9, ", "upper = 7, "))
    done = culmen("tune", "command", "app.toml", "--dry-run", cwd=tmp_path)
    assert done.returncode == 2
    assert "app.toml" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_plan_of_hpl_is_shown(tmp_path):
    write(tmp_path)
    said = dry(tmp_path, "hpl", "--program", "./xhpl", "--minutes", "4", "--only", "nb,depth", "--rounds", "3")
    assert "2 parameters, 36 settings:" in said
    assert "  depth: 0, 1, 2 (present: 1)\n" in said
    assert "Time: about 0:04:00 for all runs (--minutes)" in said
    assert "first runs with N = 1000" in said
    assert "the search (0:02:00)" in said
    assert "and 3 rounds of at most" in said
    line = said.partition("this line runs, in a new folder with this HPL.dat:\n")[2].splitlines()[0]
    assert line.endswith(f"{tmp_path}/xhpl")
    assert "\n    192          NBs\n" in said


@pytest.mark.parametrize("kind", ["hpl", "make"])
def test_builds_of_hpl_are_shown_but_not_made(tmp_path, kind):
    write(tmp_path)
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / ("Make.top" if kind == "hpl" else "Makefile")).write_text("all:\n\tfalse\n")
    words = ("--mpis", "mpich", "--compilers", "gcc", "--flags", "-O1,-O2", "--link", "-lblas")
    said = dry(tmp_path, "hpl", "--build", "sources", *words)
    assert said.count("To build: mpich, gcc, -O") == 2
    expected = "make arch=culmen startup\n" if kind == "hpl" else "CFLAGS=-O2"
    assert expected in said
    assert "  flags: -O1, -O2 (present: -O1)\n" in said
    assert "known after the build" in said
