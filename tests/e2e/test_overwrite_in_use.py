"""`--overwrite` of a tuner or a benchmark, while another process measures in the same folder: nothing is removed."""

import os

import pytest
from culmen.bench.held import held
from harness import Running, culmen, store_is_ready, wait_for, write_study
from small_tuning import LINE, write_tuning

pytestmark = pytest.mark.no_numbers

APP = "#!/bin/sh\nif [ $1 != 8 ]; then until [ -e $CULMEN_STUDY_FOLDER/go ]; do sleep 0.05; done; fi\necho rate = $1\n"
# For each command: its words, the name of a store, and files that --overwrite removes or replaces.
COMMANDS = {
    "tune command": (("app.toml",), "comparison.db", ("found.json", "present.db", "builds/x/app")),
    "tune placement": (("--threads", "1,2", *LINE, "--", "./app", "8"), "search.db", ("found.json", "plan.json")),
    "tune io": (("--iobuf", *LINE, "--", "./app", "8"), "search.db", ("found.json", "plan.json")),
    "tune hpl": (("--program", "./app", "--minutes", "0.1"), "check.db", ("known.json", "first.db", "run-1/HPL.dat")),
    "tune cluster": ((), "tuning-again-1.db", ("tuning.db", "tried.json", "measured-on.json", "variables.json")),
    "tune cluster --variables=copy": ((), "variables-1.db", ("variables-2.db", "tried.json", "measured-on.json")),
    "tune app": (("--", "./app"), "tuning.db", ("rounds.json", "profile/command")),
    "tune app --direct": (("--", "./app"), "search.db", ("plan.json", "profile/command")),
    "bench transport": ((), "transport.db", ("transport-again-1.db",)),
    "bench collectives": ((), "collectives.db", ("collectives-again-1.db",)),
}


@pytest.fixture
def folder(tmp_path):
    return write_tuning(tmp_path, APP)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_in_use_is_left_alone(folder, command):
    """Any study can hold the store, because only its owner counts."""
    words, name, others = COMMANDS[command]
    results = folder / "out"
    for other in others:
        (results / other).parent.mkdir(parents=True, exist_ok=True)
        (results / other).write_text("mine")
    write_study(folder, 100_000)
    with Running("run", "study.toml", "--store", f"out/{name}", "--quiet", cwd=folder) as first:
        wait_for(lambda: store_is_ready(results / name), "the store")
        again = culmen(*command.split(), "--overwrite", "--output", "out", *words, cwd=folder)
        alive = first.process.poll() is None
        first.process.terminate()
        code, _, err = first.end()
    assert again.returncode == 2, again.stdout + again.stderr
    assert f"{name} is in use: " in again.stderr
    assert f"process {first.process.pid}" in again.stderr
    assert alive and (code, err) == (75, "")
    assert {other: (results / other).read_text() for other in others} == dict.fromkeys(others, "mine")


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("tune")])
def test_a_folder_that_a_tuner_holds_is_left_alone(folder, command):
    """A tuner holds its folder also while it builds, and between two studies."""
    words, name, others = COMMANDS[command]
    results = folder / "out"
    for other in (name, *others):
        (results / other).parent.mkdir(parents=True, exist_ok=True)
        (results / other).write_text("mine")
    with held(results):
        again = culmen(*command.split(), "--overwrite", "--output", "out", *words, cwd=folder)
    assert again.returncode == 2, again.stdout + again.stderr
    assert "out is in use: " in again.stderr
    assert f"process {os.getpid()} measures there" in again.stderr
    assert {other: (results / other).read_text() for other in (name, *others)} == dict.fromkeys((name, *others), "mine")


def test_the_tuning_that_runs_is_not_disturbed(folder):
    words = ("tune", "command", "app.toml", "--quiet")
    with Running(*words, cwd=folder) as first:
        wait_for(lambda: store_is_ready(folder / "tune-app/search.db"), "the search")
        again = culmen(*words, "--overwrite", cwd=folder)
        (folder / "go").touch()
        code, _, err = first.end()
    assert again.returncode == 2
    assert "culmen: tune-app is in use: " in again.stderr
    assert (code, err) == (0, "")


def test_a_damaged_store_is_in_use_by_nobody(folder):
    (folder / "go").touch()
    (folder / "tune-app").mkdir()
    (folder / "tune-app/search.db").write_text("damaged")
    done = culmen("tune", "command", "app.toml", "--quiet", "--overwrite", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
