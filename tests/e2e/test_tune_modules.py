"""``culmen tune command``: a parameter chooses an environment module."""

import json

import pytest
from harness import culmen

pytestmark = pytest.mark.no_numbers

PROFILE = 'module() { [ "$1 $2" = "load mpi/2" ] && export SPEED=30 || export SPEED=10; }\n'
FILE = r"""
[space]
mpi = { choices = ["mpi/1", "mpi/2"], initial = "mpi/1" }
[evaluator]
MORE
[evaluator.values]
rate = { regex = 'rate = (\S+)' }
[objectives]
rate = "maximize"
[stop]
evaluations = 4
[tune]
rounds = 3
"""
WRAPPED = """command = ["bash", "-lc", "module load {mpi} && exec {CULMEN_STUDY_FOLDER}/app"]"""


@pytest.fixture
def tune(tmp_path):
    (tmp_path / ".bash_profile").write_text(PROFILE)
    (tmp_path / "app").write_text('#!/bin/sh\necho "rate = $SPEED"\n')
    (tmp_path / "app").chmod(0o755)

    def run(evaluator, *words):
        (tmp_path / "app.toml").write_text(FILE.replace("MORE", evaluator))
        return culmen("tune", "command", "app.toml", *words, cwd=tmp_path, HOME=str(tmp_path))

    return run


def test_modules_are_the_same_in_all_runs(tune):
    done = tune('command = ["./app"]\nmodules = ["gcc/12", "{mpi}"]', "--dry-run")
    assert done.returncode == 2, done.stdout
    message = 'app.toml: [evaluator] modules: "{mpi}" cannot contain a parameter'
    assert f"{message}, because modules are the same in all runs" in done.stderr
    assert tune('command = ["./app"]\nmodules = ["gcc/12"]', "--dry-run").returncode == 0


def test_a_command_loads_the_module_of_its_run(tune, tmp_path):
    done = tune(WRAPPED)
    assert done.returncode == 0, done.stderr
    (result,) = tmp_path.rglob("result.json")
    assert json.loads(result.read_text())["best_found"] == {"mpi": "mpi/2"}
