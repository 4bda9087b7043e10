"""Models that cannot be loaded, that return something wrong or that run studies, and the one sentence that says why."""

import re
import subprocess
from pathlib import Path

import pytest
from harness import HANGS_S, PYTHON, environment
from harness import culmen as typed
from wrong_uses import MODEL, MODEL_KEY, STUDY, edited

pytestmark = pytest.mark.no_numbers

# model.py, and what `culmen run study.toml` answers; exit code 2: nothing was evaluated.
MODELS = {
    "a function of two": (
        "def f(x, y):\n    return x + y\n",
        "{folder}/model.py: f(x, y) takes 2 arguments, but culmen passes one; write def f(p): … p['x'] …",
    ),
    "another name": ("def g(p):\n    return 1\n", "{folder}/model.py has no function 'f' (it has: g)"),
    "no function": ("f = 3\n", "'f' in {folder}/model.py must be a function, but is of type int"),
    "a package that is not there": (
        "import nmpy\n" + MODEL,
        "cannot import {folder}/model.py: No module named 'nmpy'; culmen runs in {python}, "
        "so write `{python} -m pip install nmpy`",
    ),
    "a module that is not there": (
        "import json.nothing\n" + MODEL,
        "cannot import {folder}/model.py: No module named 'json.nothing'",
    ),
    "a syntax error": (
        "def f(p)\n    return 1\n",
        "cannot import {folder}/model.py: SyntaxError: expected ':' (model.py, line 1)",
    ),
    "a file that is not there": (
        'open("data.csv")\n' + MODEL,
        "cannot import {folder}/model.py: FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'",
    ),
}


def test_a_file_beside_the_study_file_is_not_in_the_current_folder(folder, tmp_path_factory):
    (folder / "data.csv").write_text("1\n")
    (folder / "model.py").write_text('def f(p):\n    return float(open("data.csv").read())\n')
    done = typed("run", folder / "study.toml", "--store", "s.db", cwd=tmp_path_factory.mktemp("elsewhere"))
    advice = (
        f"'data.csv' is in {folder}, but a relative path begins in the folder where culmen was started; write "
        "pathlib.Path(__file__).parent / 'data.csv'"
    )
    assert f"No such file or directory: 'data.csv'; {advice}" in done.stderr


@pytest.mark.parametrize("mistake", MODELS)
def test_models_that_cannot_be_had(folder, mistake):
    text, answer = MODELS[mistake]
    (folder / "model.py").write_text(text)
    done = typed("run", "study.toml", cwd=folder)
    said = done.stderr.splitlines()[0]
    python = re.search(r"culmen runs in (\S+), ", said)
    answer = answer.replace("{folder}", str(folder)).replace("{python}", python[1] if python else "")
    assert (done.returncode, said) == (2, f"culmen: study.toml: [evaluator] {answer}")
    assert python is None or Path(python[1]).samefile(PYTHON)
    assert "Traceback" not in done.stderr


RETURNED = "evaluation 0 wrong shape: the function returned "
RAISED = "evaluation 0 failed: "

# The body of f, and the message about the first evaluation; exit code 1: all failed.
FUNCTIONS = {
    "print(p['x'] ** 2)": RETURNED + "None; it must return one number (is a return missing?)",
    "return '3.5'": RETURNED + "a str ('3.5'); it must return one number",
    "return [1, 2]": RETURNED + 'a list of 2; it must return one number (for a fit, set result = "residuals"; '
    "for several objectives, name them in objectives)",
    "return 1 + 2j": RETURNED + "a complex ((1+2j)); it must return one number",
    "return {'chi2': 1.0}": RETURNED + "a dict of 1; it must return one number, or a tuple of it and "
    "a dict of further values; the keys chi2 as values need objectives",
    "yield 1": RETURNED + "a generator; it must return one number",
    "return float('nan')": "evaluation 0 not finite: the value is nan",
    "return p.x": RAISED + "AttributeError: 'dict' object has no attribute 'x'; read a parameter as p['x']",
    "return p[0]": RAISED
    + "KeyError: 0; the function receives a dict of the parameters; write p['x'], or list(p.values()) for a list; "
    "this candidate has the parameters x, y",
    "return p['z']": RAISED + "KeyError: 'z'; this candidate has the parameters x, y",
}
OTHERS = {
    "a class for a function": (
        {"model.py": "class f:\n    pass\n"},
        RAISED + "TypeError: f() takes no arguments; it is called with one argument, a dict of the parameters",
    ),
    "a value for residuals": (
        {"study.toml": edited((MODEL_KEY, MODEL_KEY + '\nresult = "residuals"'))},
        RETURNED
        + 'a float; it must return a vector of residuals that is not empty (one number needs result = "value")',
    ),
    "an objective that is not among the figures": (
        {
            "model.py": "def f(p):\n    return {'b': 1.0}\n",
            "study.toml": STUDY + '[objectives]\na = "minimize"\n',
        },
        "evaluation 0 wrong shape: the outcome has no value 'a', which [objectives] needs; it has b",
    ),
    "a program that prints nothing": (
        {"study.toml": edited((MODEL_KEY, 'command = ["true"]'))},
        "evaluation 0 wrong shape: the program printed nothing; it must print a number on its standard output",
    ),
    "a program that prints words": (
        {"study.toml": edited((MODEL_KEY, 'command = ["echo", "done"]'))},
        "evaluation 0 wrong shape: the program printed 'done', but its last word must be the value, a number",
    ),
    "a script that names nothing to run it": (
        {"study.toml": edited((MODEL_KEY, 'command = ["./model.sh"]')), "model.sh": "echo 3\n"},
        RAISED + "cannot start '{folder}/model.sh': Exec format error "
        "(the first line of a script must be #!/bin/sh or the like)",
    ),
}
WRONG_OUTCOMES = {body: ({"model.py": f"def f(p):\n    {body}\n"}, answer) for body, answer in FUNCTIONS.items()}


@pytest.mark.parametrize("mistake", WRONG_OUTCOMES | OTHERS)
def test_evaluations_that_all_fail_say_why_in_one_sentence(folder, mistake):
    files, answer = (WRONG_OUTCOMES | OTHERS)[mistake]
    for name, text in files.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    done = typed("run", "study.toml", "--evaluations", 3, "--quiet", cwd=folder)
    said = "culmen: all evaluations failed; the first: " + answer.replace("{folder}", str(folder))
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, said)
    assert "Traceback" not in done.stderr


RUNS = {
    "minimize": 'culmen.minimize(f, {"x": (0, 1)}, budget=9)',
    "a study": 'culmen.Study.from_file("study.toml").run()',
    "an executor": "culmen.Executor(1).submit(f, {}).result()",
}


@pytest.mark.parametrize("what", RUNS)
def test_a_model_that_runs_a_study_when_it_is_imported_does_not_start_itself_again_and_again(folder, what):
    (folder / "model.py").write_text(f"import culmen\n{MODEL}{RUNS[what]}\n")
    done = typed("run", "study.toml", cwd=folder, timeout=HANGS_S)
    said = (
        f"culmen: study.toml: [evaluator] cannot import {folder}/model.py: culmen.InputError: {folder}/model.py "
        'starts evaluations while a worker imports it; put that part of the script below `if __name__ == "__main__":`'
    )
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, said)


@pytest.mark.parametrize("run", ["culmen.minimize(f, [(0, 1)] * 2, budget=9)", RUNS["an executor"]])
def test_a_module_that_is_imported_does_not_start_itself_again_and_again(folder, run):
    (folder / "fit.py").write_text(f"import culmen\n{MODEL}{run}\n")
    done = subprocess.run(
        [PYTHON, "-c", "import fit"], cwd=folder, env=environment(), capture_output=True, text=True, timeout=HANGS_S
    )
    assert done.returncode == 1
    assert 'while a worker imports it; put that part of the script below `if __name__ == "__main__":`' in done.stderr
