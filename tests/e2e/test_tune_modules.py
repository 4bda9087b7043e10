"""``culmen tune command``: a parameter chooses an environment module."""

import json
import re

import pytest
from harness import ROOT, culmen

pytestmark = pytest.mark.no_numbers

PROFILE = """module() {
  case "$1 $2" in
    "load mpi/1") export SPEED=10 LOADEDMODULES=$2;;
    "load mpi/2") export SPEED=30 LOADEDMODULES=$2;;
    "load mpi/3") echo "there is no $2" >&2; return 1;;
  esac
}
"""
FILE = r"""
[space]
SPACE
[evaluator]
MORE
[evaluator.values]
rate = { regex = 'VALUE' }
[objectives]
rate = "maximize"
[stop]
evaluations = 4
[tune]
rounds = 3
BUILD
"""
SPACE = 'mpi = { choices = ["mpi/1", "mpi/2"], initial = "mpi/1" }'
WRAPPED = """command = ["bash", "-lc", "module load {mpi} && exec {CULMEN_STUDY_FOLDER}/app"]"""


@pytest.fixture
def tune(tmp_path):
    (tmp_path / ".bash_profile").write_text(PROFILE)
    (tmp_path / "app").write_text('#!/bin/sh\necho "rate = ${SPEED:-1}"\n')
    (tmp_path / "app").chmod(0o755)

    def run(evaluator, *words, space=SPACE, build="", value=r"rate = (\S+)"):
        text = FILE.replace("MORE", evaluator).replace("SPACE", space)
        (tmp_path / "app.toml").write_text(text.replace("BUILD", build).replace("VALUE", value))
        return culmen("tune", "command", "app.toml", *words, cwd=tmp_path, HOME=str(tmp_path))

    return run


@pytest.mark.parametrize("entry", ["{blas}", "{mpi", "mpi}/{mpi}"])
def test_a_module_contains_only_parameters_in_braces(tune, entry):
    done = tune(f'command = ["./app"]\nmodules = ["gcc/12", "{entry}"]', "--dry-run")
    assert done.returncode == 2, done.stdout
    message = f'app.toml: [evaluator] modules: "{entry}" may contain only parameters of [space] in braces'
    assert f"{message}; these are mpi" in done.stderr
    assert tune('command = ["./app"]\nmodules = ["gcc/12"]', "--dry-run").returncode == 0


@pytest.mark.parametrize("entry", ["{mpi}", "hdf5 {mpi}"])
def test_a_parameter_chooses_a_module(tune, tmp_path, entry):
    done = tune(f'command = ["./app"]\nmodules = ["gcc/12", "{entry}"]')
    assert done.returncode == 0, done.stderr
    (result,) = tmp_path.rglob("result.json")
    assert json.loads(result.read_text())["best_found"] == {"mpi": "mpi/2"}
    line = f"module load gcc/12 {entry.replace('{mpi}', 'mpi/2')} && {tmp_path}/app"
    assert f"\nUse this line:\n  {line}\n" in done.stdout


def test_a_parameter_chooses_a_list_of_modules(tune, tmp_path):
    space = 'mpi = { choices = ["", "gcc/12 mpi/2"], initial = "" }'
    done = tune('command = ["./app"]\nmodules = ["{mpi}"]', space=space)
    assert done.returncode == 0, done.stderr
    (result,) = tmp_path.rglob("result.json")
    assert json.loads(result.read_text())["best_found"] == {"mpi": "gcc/12 mpi/2"}


def test_a_module_that_does_not_exist_is_a_sentence(tune):
    space = 'mpi = { choices = ["mpi/1", "mpi/2", "mpi/3"], initial = "mpi/1" }'
    done = tune('command = ["./app"]\nmodules = ["{mpi}"]', space=space)
    assert done.returncode == 0, done.stderr
    assert "of the search failed: the modules mpi/3 cannot be loaded: module load mpi/3 ended with" in done.stdout


def test_a_build_sees_the_modules_of_its_run(tune, tmp_path):
    build = '[build]\ncommand = ["sh", "-c", "cp {CULMEN_STUDY_FOLDER}/app . && echo $SPEED > speed"]\n'
    done = tune('command = ["cat", "{build}/speed"]\nmodules = ["{mpi}"]', build=build, value=r"^(\d+)")
    assert done.returncode == 0, done.stderr
    (result,) = tmp_path.rglob("result.json")
    assert json.loads(result.read_text())["best_found"] == {"mpi": "mpi/2"}


def test_a_command_loads_the_module_of_its_run(tune, tmp_path):
    done = tune(WRAPPED)
    assert done.returncode == 0, done.stderr
    (result,) = tmp_path.rglob("result.json")
    assert json.loads(result.read_text())["best_found"] == {"mpi": "mpi/2"}


def test_studies_and_tuners_load_modules_by_the_same_script():
    """One is compiled into culmen, and the other must run without culmen."""
    studies = (ROOT / "src/culmen/worker/process/modules.cpp").read_text()
    tuners = (ROOT / "python/culmen/tune/command/loaded.py").read_text()
    [compiled] = re.findall(r'script = R"\((.*?)\)";', studies, re.DOTALL)
    assert re.findall(r'_SCRIPT = r"""(.*?)"""', tuners, re.DOTALL) == [compiled]
