"""`culmen tune command --submit local`: a tuning as a job, and what happens when its file changes afterwards."""

import json

import pytest
import small_tuning
from harness import culmen

pytestmark = pytest.mark.no_numbers

APP = """#!/bin/sh
echo run >> $CULMEN_STUDY_FOLDER/runs
echo "rate = $(( 100 - ($1 - 3) * ($1 - 3) ))"
"""
RECIPE = small_tuning.RECIPE.replace("[objectives]", "time_limit_s = 10\n[objectives]")
TUNE = ("tune", "command", "app.toml", "--submit", "local")


@pytest.fixture
def tuned(tmp_path):
    small_tuning.write_tuning(tmp_path, APP, RECIPE)
    done = culmen(*TUNE, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    return tmp_path


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("upper = 9", "upper = 10"), "app.toml was changed after the runs in "),
        (("evaluations = 8", "evaluations = 5"), "app.toml: [stop] evaluations = 5, but "),
    ],
)
def test_a_changed_file_is_refused_before_the_job(tuned, change, says):
    runs, job = (tuned / "runs").read_text(), (tuned / "tune-app/local/job.json").read_text()
    (tuned / "app.toml").write_text(RECIPE.replace(*change))
    done = culmen(*TUNE, cwd=tuned)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.startswith(f"culmen: {says}"), done.stderr
    assert done.stderr.count("\n") == 1
    assert "write --overwrite to measure again, or give another folder with --output" in done.stderr
    assert (tuned / "tune-app/local/job.json").read_text() == job, "no job was submitted"
    assert (tuned / "runs").read_text() == runs
    again = culmen(*TUNE, "--overwrite", cwd=tuned)
    assert again.returncode == 0, again.stdout + again.stderr


def test_changes_that_leave_the_search_as_it_is_are_a_job(tuned):
    before = (tuned / "runs").read_text().count("run")
    (tuned / "app.toml").write_text(RECIPE.replace("rounds = 3", "rounds = 4"))
    done = culmen(*TUNE, cwd=tuned)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Submitted job" in done.stdout
    found = json.loads((tuned / "tune-app/result.json").read_text())
    assert len(found["rounds"]) == 4
    assert (tuned / "runs").read_text().count("run") - before <= 3 * 4
