"""Evaluators as users write them: templates, JSON, several figures, kept folders, batches."""

import json
import os
import re
import subprocess

import pytest
from harness import HANGS_S, PYTHON, culmen, environment

SPACE = '[space]\nx = { lower = -2, upper = 2 }\nn = { type = "integer", lower = 1, upper = 3 }\n'
STOP = '[optimizer]\nname = "sobol"\n[stop]\nevaluations = 20\n'


def run(folder, evaluator, *options, **files):
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    (folder / "study.toml").write_text(SPACE + "[evaluator]\n" + evaluator + "\n" + STOP)
    return culmen("run", "study.toml", "--workers", "2", *options, cwd=folder)


def outcomes(folder, store="study.db"):
    return json.loads(culmen("status", store, "--json", cwd=folder).stdout)


def test_a_template_a_file_and_json_make_a_study(tmp_path):
    deck = "# a deck\nwidth {{x:.12f}}\ncount {{n}}\n"
    model = 'awk \'$1 == "width" { w = $2 } $1 == "count" { n = $2 } END { printf "{\\"chi2\\": %.12f}", w*w + n }\' '
    done = run(
        tmp_path,
        """command = ["sh", "-c", '. ./prologue.sh']
templates = ["deck.in"]
inputs = { copy = ["prologue.sh"] }
value = { file = "out.json", key = "chi2" }
values = { third = { regex = 'third (\\S+)' } }
keep = "none\"""",
        deck__in=deck,
        prologue__sh=model + "deck.in > out.json; echo third 3",
    )
    assert done.returncode == 0, done.stderr
    found = outcomes(tmp_path)
    assert found["best_value"] == pytest.approx(found["best"]["x"] ** 2 + found["best"]["n"], abs=1e-9)
    assert "third" in done.stdout
    assert not any((tmp_path / "study.work").iterdir())


def test_a_program_gets_json_and_gives_residuals(tmp_path):
    program = "import json, sys\np = json.load(sys.stdin)\nprint(json.dumps({'r': [p['x'] - 1, p['n'] - 2.0]}))\n"
    done = run(
        tmp_path,
        f'command = ["{PYTHON}", "model.py"]\nstdin = "json"\ninputs = {{ link = ["model.py"] }}\n'
        'residuals = { key = "r" }\nkeep = "failures"',
        model__py=program,
    )
    assert done.returncode == 0, done.stderr
    assert "(2 residuals)" in done.stdout
    best = outcomes(tmp_path)
    assert best["best_value"] == pytest.approx((best["best"]["x"] - 1) ** 2 + (best["best"]["n"] - 2) ** 2)


def test_failures_keep_their_folders_and_successes_do_not(tmp_path):
    done = run(tmp_path, 'command = ["sh", "-c", "echo $n > n.txt; test $n = 2 && echo 1"]\nkeep = "failures"')
    assert done.returncode == 0, done.stderr
    kept = {path.name: (path / "n.txt").read_text().strip() for path in (tmp_path / "study.work").iterdir()}
    assert len(kept) == outcomes(tmp_path)["failed"] > 0
    assert set(kept.values()) == {"1", "3"}


def test_what_a_function_prints_is_kept_on_wish(tmp_path):
    model = "def f(p):\n    if p['n'] == 2: print('n is two')\n    return p['x']\n"
    done = run(tmp_path, 'python = "model.py:f"\noutput = "all"', model__py=model)
    assert done.returncode == 0, done.stderr
    folders = list((tmp_path / "study.work").iterdir())
    assert folders
    assert {(folder / "stdout.txt").read_text() for folder in folders} == {"n is two\n"}


def test_a_batch_finds_what_one_by_one_finds(tmp_path):
    model = (
        "def one(p):\n    return p['x'] ** 2 + p['n']\n"
        "def many(p):\n    assert 1 <= len(p['x']) <= 4\n    return [x * x + n for x, n in zip(p['x'], p['n'])]\n"
    )
    assert run(tmp_path, 'python = "model.py:one"', "--store", "one.db", model__py=model).returncode == 0
    done = run(tmp_path, 'python = "model.py:many"\nbatch = 4', "--store", "many.db")
    assert done.returncode == 0, done.stderr
    one, many = outcomes(tmp_path, "one.db"), outcomes(tmp_path, "many.db")
    assert (one["best"], one["best_value"]) == (many["best"], many["best_value"])
    assert many["failed"] == 0


def test_a_resumed_study_has_all_that_its_file_said(tmp_path):
    run(
        tmp_path,
        'command = ["cat", "in.txt"]\ntemplates = ["in.txt"]\nenvironment = { A = "{n}" }\nkeep = "none"\n'
        "value = { regex = 'x (.*)' }",
        in__txt="x {{x}}\n",
    )
    done = culmen("resume", "study.db", "--evaluations", "30", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert outcomes(tmp_path)["told"] == 30
    assert outcomes(tmp_path)["failed"] == 0
    (tmp_path / "in.txt").write_text("y {{x}}\nx {{x}}\n")
    assert "has changed" in culmen("resume", "study.db", "--evaluations", "31", cwd=tmp_path).stderr


MISTAKES = {
    "an unknown place": ("x {{x}}\ny {{y}}\n", "templates, in.txt: line 2: {{y}} is not a parameter"),
    "no place at all": ("x\n", "templates, in.txt: it contains no parameter such as {{x}}"),
    "a parameter without a place": ("{{x}}\n", "templates: none contains {{n}}, so the parameter 'n' would"),
    "a format that is none": ("{{x:d}} {{n}}\n", "'d' is not a format for the real parameter 'x'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_template_is_told_before_anything_runs(tmp_path, mistake):
    text, sentence = MISTAKES[mistake]
    done = run(tmp_path, 'command = ["cat", "in.txt"]\ntemplates = ["in.txt"]', in__txt=text)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "study.db").exists()


def test_a_program_is_a_function_of_minimize(tmp_path):
    script = """
import culmen
command = culmen.Command(["sh", "-c", "echo area = 3; echo $1", "show", "{x:.6f}"], keep="none")
result = culmen.minimize(command, {"x": (1, 2)}, budget=30, workers=2, store="fit.db")
print(round(result.value, 3), result.extras)
"""
    done = subprocess.run(
        [PYTHON, "-c", script], cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=HANGS_S
    )
    assert done.returncode == 0, done.stderr
    assert "{'area': 3.0}" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["fit.db"]


def test_modules_are_loaded_as_a_login_shell_does(tmp_path):
    (tmp_path / ".bash_profile").write_text(
        'module() { [ "$2" = units/2 ] && export SCALE=3 || { echo "no module $2" >&2; return 1; }; }\n'
    )
    (tmp_path / "model.py").write_text("import os\ndef f(p):\n    return float(os.environ['SCALE']) + p['x'] ** 2\n")
    for evaluator in ('python = "model.py:f"', 'command = ["sh", "-c", "echo 3.5"]'):
        text = SPACE + f'[evaluator]\n{evaluator}\nmodules = ["units/2"]\n' + STOP
        (tmp_path / "study.toml").write_text(text)
        done = culmen("run", "study.toml", "--overwrite", cwd=tmp_path, HOME=str(tmp_path))
        assert done.returncode == 0, done.stderr
        assert 3 <= outcomes(tmp_path)["best_value"] < 4
    (tmp_path / "study.toml").write_text(text.replace("units/2", "units/3"))
    done = culmen("run", "study.toml", "--overwrite", cwd=tmp_path, HOME=str(tmp_path))
    assert done.returncode == 2
    assert "[evaluator] the modules units/3 cannot be loaded" in done.stderr


@pytest.mark.parametrize("place", [(), ("--worker-processes",)])
def test_two_workers_share_the_cpus_among_the_threads_of_libraries(tmp_path, share_of_two, place):
    function = "import os\n\ndef f(p):\n    return int(os.environ['OPENBLAS_NUM_THREADS'])\n"
    done = run(tmp_path, 'python = "model.py:f"', *place, model__py=function)
    assert done.returncode == 0, done.stderr
    assert outcomes(tmp_path)["best_value"] == share_of_two


@pytest.mark.usefixtures("share_of_two")
def test_check_says_how_many_threads_libraries_use(tmp_path):
    run(tmp_path, 'python = "model.py:f"', model__py="def f(p):\n    return p['x']\n")
    cpus = len(os.sched_getaffinity(0))  # as many workers by default
    said = culmen("check", "study.toml", cwd=tmp_path).stdout
    assert ("1 in each worker, for libraries such as OpenBLAS" in said) == (cpus > 1)
    said = culmen("check", "study.toml", cwd=tmp_path, OMP_NUM_THREADS="3").stdout
    assert re.search(r"^threads +OMP_NUM_THREADS=3 *$", said, re.MULTILINE)
