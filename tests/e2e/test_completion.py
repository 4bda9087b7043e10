"""The completions that `culmen` offers a shell for the word that is being typed."""

import subprocess

import pytest
from harness import PYTHON, culmen, environment

pytestmark = pytest.mark.no_numbers

WORDS = {
    "culmen st": ["status"],
    "culmen run ": ["a.toml", "b.toml"],
    "culmen run sub/": ["sub/c.toml"],
    "culmen run b": ["b.toml"],
    "culmen resume ": ["a.db"],
    "culmen run a.toml --worker": ["--workers", "--worker-processes"],
    "culmen export --pa": ["--parquet"],
    "culmen init --kind p": ["python"],
    "culmen optimizers e": ["evolution"],
    "culmen optimizers p": ["pycma", "pygmo:"],
    "culmen optimizers opt": ["optuna:"],
    "culmen optimizers optuna:T": ["optuna:TPESampler"],
    "culmen optimizers optuna : T": ["TPESampler"],  # bash's own words
    "culmen optimizers pagmo:de": ["pagmo:de", "pagmo:de1220"],
    "culmen run nothing": [],
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sub").mkdir()
    for name in ("a.toml", "b.toml", "a.db", "model.py", "sub/c.toml"):
        (tmp_path / name).touch()
    return tmp_path


def offered(typed, folder):
    words = typed.split(" ")
    variables = {"COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    done = culmen(cwd=folder, _CULMEN_COMPLETE="complete_bash", **variables)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize("typed", WORDS)
def test_bash_is_offered_what_fits(folder, typed):
    assert offered(typed, folder) == WORDS[typed]


def test_bash_completes_a_sampler_of_another_library(folder):
    script = culmen(cwd=folder, _CULMEN_COMPLETE="source_bash").stdout
    lines = f"{script}\nCOMP_WORDS=(culmen optimizers optuna :) COMP_CWORD=3\n"
    lines += "_culmen_completion culmen\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n"
    done = subprocess.run(["bash", "--norc"], input=lines, cwd=folder, capture_output=True, text=True, check=True)
    assert {"TPESampler", "RandomSampler"} <= set(done.stdout.split())


@pytest.mark.parametrize("words", [("--help",), ("optimizers", "--help"), ("optimizers", "--json"), ()])
def test_no_other_library_is_imported_before_its_name_is_typed(folder, words):
    program = "import sys\nfrom culmen.cli.main import main\nimport os\nend = os._exit\n"
    program += (
        "os._exit = lambda code: (print(*sorted({'optuna', 'cma', 'nevergrad', 'pygmo', 'numpy'} & set(sys.modules)),"
    )
    program += " file=sys.stderr), end(code))\nmain()\n"
    typed = {"_CULMEN_COMPLETE": "complete_bash", "COMP_WORDS": "culmen optimizers p", "COMP_CWORD": "2"}
    done = subprocess.run(
        [PYTHON, "-c", program, *words],
        env=environment(**({} if words else typed)),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout
    assert done.stderr.strip() == ""


def test_a_shell_that_reads_the_script_completes_commands(folder):
    script = culmen(cwd=folder, _CULMEN_COMPLETE="source_bash").stdout
    lines = f"{script}\nCOMP_WORDS=(culmen resu) COMP_CWORD=1\n"
    lines += "_culmen_completion culmen\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n"
    done = subprocess.run(["bash", "--norc"], input=lines, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["resume"]


def test_zsh_and_fish_have_a_script_too(folder):
    for shell in ("zsh", "fish"):
        assert f"_CULMEN_COMPLETE=complete_{shell}" in culmen(cwd=folder, _CULMEN_COMPLETE=f"source_{shell}").stdout
