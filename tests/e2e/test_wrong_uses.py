"""What new users do wrong, as they type it, and the one sentence that says what to write instead.

Programs and libraries are in test_wrong_evaluators.py, single keys of study files in tests/python/test_study_file.py,
stores in test_stores.py.
"""

import math
import re
import subprocess
from pathlib import Path

import pytest
from harness import PYTHON, environment
from harness import culmen as typed

import culmen
from culmen import InputError, Study

MODEL = "def f(p):\n    return (p['x'] - 1) ** 2 + p['y'] ** 2\n"
STUDY = """[space]
x = { lower = -5, upper = 5 }
y = { lower = -5, upper = 5 }
[evaluator]
python = "model.py:f"
[stop]
evaluations = 20
"""
X = "x = { lower = -5, upper = 5 }"
MODEL_KEY = 'python = "model.py:f"'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def edited(*changes: tuple[str, str]) -> str:
    text = STUDY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


# What is typed, and all that is answered on standard error. The exit code is 2.
WORDS = {
    "rn study.toml": "culmen: there is no command 'rn'; did you mean 'run'?",
    "execute study.toml": "culmen: there is no command 'execute'; did you mean 'run'?",
    "frobnicate study.toml": "culmen: there is no command 'frobnicate'; `culmen --help` lists the commands",
    "plot study.db": "culmen: there is no command 'plot'; did you mean 'report'?",
    "version": "culmen: 'version' is not a command; write `culmen --version`",
    "--run study.toml": "culmen: there is no option '--run'; write `culmen run`, which is a command",
    "-v": "culmen: there is no option '-v'; did you mean '--version'?",
    "study.toml": "culmen: 'study.toml' is not a command; write `culmen run study.toml`",
    "study.db": "culmen: 'study.db' is not a command; write `culmen resume study.db`",
    "help": "culmen: 'help' is not a command; write `culmen --help`, or `culmen COMMAND --help`",
    "run": "culmen run: STUDY.toml is missing; write `culmen run STUDY.toml`",
    "run study.toml --wrkers 3": "culmen run: there is no option '--wrkers'; did you mean '--workers'?",
    "run study.toml -j 3": "culmen run: there is no option '-j'; did you mean '--workers'?",
    "run study.toml -x": "culmen run: there is no option '-x'; `culmen run --help` lists the options",
    "run study.toml --force": "culmen run: there is no option '--force'; did you mean '--overwrite'?",
    "run study.toml --resume": "culmen run: there is no option '--resume'; write `culmen resume`, which is a command",
    "export study.db --format csv": "culmen export: there is no option '--format'; did you mean '--csv'?",
    "export study.db out.csv": "culmen export: unexpected 'out.csv'; write `culmen export STUDY.db -o out.csv`",
    "run study.toml --optimizer random": "culmen run: there is no option '--optimizer'; set it in the study file, in "
    "[optimizer]",
    "run study.toml --time-limit-s 3": "culmen run: there is no option '--time-limit-s'; set it in the study file, in "
    "[evaluator]",
    "run study.toml --workers": "culmen run: --workers needs a value; `culmen run --help` lists the options",
    "run study.toml --workers 0": "culmen run: --workers must be at least 1, got 0",
    "run study.toml --workers two": "culmen run: --workers must be a whole number, got two",
    "run study.toml --evaluations 1e4": "culmen run: --evaluations must be a whole number, got 1e4",
    "run study.toml --evaluations -5": "culmen run: --evaluations must be at least 1, got -5",
    "run study.toml --target low": "culmen run: --target must be a number, got low",
    "run study.toml --target nan": "culmen: study.toml: target must be a finite number, got NaN",
    "run study.toml --wall-time 1h": "culmen run: --wall-time must be a number, got 1h",
    "run study.toml model.py": "culmen run: unexpected 'model.py'; write `culmen run STUDY.toml`",
    "run model.py": "culmen: model.py is a Python file, not a study file; a study file names it, with this "
    "line in [evaluator]: "
    'python = "model.py:FUNCTION" (create one with `culmen init`)',
    "run model.py:f": "culmen: model.py:f is a function, not a study file; a study file names it, with this "
    "line in [evaluator]: "
    'python = "model.py:f" (create one with `culmen init`)',
    "run .": "culmen: . is a folder; give a study file, such as study.toml",
    "run study": "culmen: there is no study file study; did you mean 'study.toml'?",
    "run stud": "culmen: there is no study file stud; did you mean 'study.toml'?",
    "check model": "culmen: there is no study file model; create one with `culmen init`",
    "status model.py": "culmen: model.py: is not a culmen study",
    "status .": "culmen: . is a folder; give a store",
    "resume study.db": "culmen: there is no store study.db; `culmen run study.toml` makes one",
    "optimizers cmase": "culmen: there is no optimizer 'cmase'; did you mean 'cmaes'?",
    "export study.toml": "culmen: study.toml is a study file, not a store; `culmen run study.toml` runs it",
    "compare a.db": "culmen compare: B.db is missing; write `culmen compare A.db B.db`",
    "check study.toml --evaluate -1": "culmen check: --evaluate must be at least 0, got -1",
    "init k --kind pyton": "culmen init: --kind must be python, library or command, got pyton; did you mean 'python'?",
    "init my-fit": "culmen: my-fit: the name must consist of letters, digits and _, such as fit, got 'my-fit'",
    "init nowhere/fit": "culmen: nowhere/fit: there is no folder nowhere; make it with `mkdir -p nowhere`",
    "launch run study.toml": "culmen launch: -n is missing; write `culmen launch -n 4 run STUDY.toml`",
    "launch -n 1 run study.toml": "culmen launch: -n must be at least 2, got 1",
    "launch -n 4": "culmen: give a command to launch, for example `culmen launch -n 4 run STUDY.toml`",
    "launch -n 4 model.py": "culmen: 'model.py' is not a program; write `culmen launch -n 4 python model.py`",
}


@pytest.mark.parametrize("words", WORDS)
def test_wrong_words_on_the_command_line(folder, words):
    done = typed(*words.split(), cwd=folder)
    assert (done.returncode, done.stderr) == (2, WORDS[words] + "\n")
    assert sorted(path.name for path in folder.iterdir()) == ["model.py", "study.toml"]


def without_line(said: str) -> str:
    """Where a sentence on a study file has its line, at its end."""
    return re.sub(r" \(line \d+\)(?=\n?\Z)", "", said)


# The text of the study file, and what `culmen run study.toml` says of it, without its name.
FILES = {
    "JSON": ('{"space": {}}', " is JSON, but a study file is TOML (create one with `culmen init`)"),
    "a colon for =": (
        edited((X, "x: [-5, 5]")),
        " is not valid TOML: Expected '=' after a key in a key/value pair (at line 2, column 2): x: [-5, 5]",
    ),
    "a text without quotes": (
        edited((MODEL_KEY, "python = model.py:f")),
        " is not valid TOML: Invalid value (at line 5, column 10): python = model.py:f; a string needs quotes; write "
        'python = "model.py:f"',
    ),
    "a number that begins with its point": (
        edited((X, "x = { lower = -.5e-1, upper = 5 }")),
        " is not valid TOML: Invalid value (at line 2, column 15): x = { lower = -.5e-1, upper = 5 }; a number must "
        "begin with a digit; write -0.5e-1",
    ),
    "only a number that begins with its point": (
        "seed = .1\n" + STUDY,
        " is not valid TOML: Invalid value (at line 1, column 8): seed = .1; a number must begin with a digit; "
        "write 0.1",
    ),
    "parameters for space": (
        "[parameters]\nz = 1\n" + STUDY,
        ": the top level has no key 'parameters'; did you mean 'space'?",
    ),
    "program for command": (
        edited((MODEL_KEY, MODEL_KEY + '\nprogram = "./model.sh"')),
        ": [evaluator] has no key 'program'; did you mean 'command'?",
    ),
    "bounds as a list": (
        edited((X, "x = [-5, 5]")),
        ": [space] x must be a table such as { lower = 0, upper = 1 }, got [-5, 5]",
    ),
    "bounds that are not finite": (
        edited(("lower = -5, upper = 5 }\ny", "lower = nan, upper = inf }\ny")),
        ": [space] parameter 'x': bounds [nan, inf] must be finite numbers",
    ),
    "min for lower": (
        edited((X, "x = { min = -5, upper = 5 }")),
        ": [space] x has no key 'min'; did you mean 'lower'?",
    ),
    "float for real": (
        edited((X, 'x = { type = "float", lower = -5, upper = 5 }')),
        ': [space] x.type must be "real", "integer", "ordinal", "categorical" or "boolean", got "float"; '
        "did you mean 'real'?",
    ),
    "choices of true and false": (
        edited((X, 'x = { choices = [true, "b"] }')),
        ': [space] x.choices.0 must be a number or a string in quotes, got true (true and false need type = "boolean")',
    ),
    "choices in one text": (
        edited((X, 'x = { choices = "a, b" }')),
        ': [space] x.choices must be a list of strings or numbers, such as ["a", "b"], got "a, b"',
    ),
    "an initial value out of bounds": (
        edited((X, "x = { lower = -5, upper = 5, initial = 7 }")),
        ": [space] parameter 'x': initial = 7 is outside [-5, 5]",
    ),
    "a start out of bounds": (
        STUDY + "[[starts]]\nx = 7\ny = 0\n",
        ": [[starts]] number 1: parameter 'x': 7 is outside [-5, 5]",
    ),
    "starts in single brackets": (
        STUDY + "[starts]\nx = 1\n",
        ': starts must be [[starts]] in double brackets, once for each start, got {"x": 1}',
    ),
    "active_when in a circle": (
        edited(
            (X, X.replace(" }", ', active_when = "y > 1" }')),
            ("y = { lower = -5, upper = 5 }", 'y = { lower = -5, upper = 5, active_when = "x > 1" }'),
        ),
        ": [space] parameter 'x': its condition \"y > 1\" depends on the parameter itself",
    ),
    "a constraint with =": (
        STUDY + '[constraints]\nsum = "x + y = 1"\n',
        ": [constraints] constraint 'sum': \"x + y = 1\", character 7: got '='; compare with ==, <= or >=",
    ),
    "a constraint with &": (
        STUDY + '[constraints]\nboth = "x < 1 & y < 1"\n',
        ": [constraints] constraint 'both': \"x < 1 & y < 1\", character 7: '&' is not allowed in an expression; "
        "write 'and'",
    ),
    "a constraint as Python would have it": (
        STUDY + "[constraints]\none = \"p['x'] < 1\"\n",
        ": [constraints] constraint 'one': \"p['x'] < 1\", character 2: '[' is not allowed in an expression; "
        "write only the parameter's name",
    ),
    "a constraint on no parameter": (
        STUDY + '[constraints]\none = "xx < 1"\n',
        ": [constraints] constraint 'one': \"xx < 1\", character 1: there is no parameter 'xx'; write one of x, y",
    ),
    "constraints in a list": (
        'constraints = ["x < 1"]\n' + STUDY,
        ': constraints must be a table with lines such as sum = "x + y <= 1", got ["x < 1"]',
    ),
    "max for maximize": (
        STUDY + '[objectives]\ngain = "max"\n',
        ': objectives.gain must be "minimize" or "maximize", got "max"; did you mean \'maximize\'?',
    ),
    "a target of several objectives": (
        edited(("= 20", '= 20\ntarget = 1\n[objectives]\na = "minimize"\nb = "minimize"')),
        ": [stop] target = 1.0: it needs one objective, but there are several; remove it",
    ),
    "budget for evaluations": (
        edited(("evaluations =", "budget =")),
        ": [stop] has no key 'budget'; did you mean 'evaluations'?",
    ),
    "a negative budget": (edited(("= 20", "= -20")), ": [stop] evaluations must be at least 1, got -20"),
    "timeout for time_limit_s": (
        edited((MODEL_KEY, MODEL_KEY + "\ntimeout = 3")),
        ": [evaluator] has no key 'timeout'; did you mean 'time_limit_s'?",
    ),
    "the name of a method": (
        STUDY + '[optimizer]\nname = "CMA-ES"\n',
        ": [optimizer] there is no optimizer 'CMA-ES' (did you mean 'cmaes'?); known are KNOWN",
    ),
    "an option of another optimizer": (
        STUDY + '[optimizer]\nname = "random"\nsigma = 0.2\n',
        ": [optimizer] optimizer 'random' has no option 'sigma'; it has none",
    ),
    "cmaes without an order": (
        edited((X, 'x = { choices = ["a", "b"] }'), ("[stop]", '[optimizer]\nname = "cmaes"\n[stop]')),
        ": [optimizer] optimizer 'cmaes' needs parameters with an order; 'x' is categorical; "
        "remove the optimizer, and culmen chooses one",
    ),
    "a program and its arguments in one text": (
        edited((MODEL_KEY, 'command = "python3 model.py"')),
        ': [evaluator] command must be ["python3", "model.py"], got "python3 model.py"',
    ),
    "a program with a blank in one text": (
        edited((MODEL_KEY, "command = \"'./my model.sh' --fast {x}\"")),
        ': [evaluator] command must be ["./my model.sh", "--fast", "{x}"], got "\'./my model.sh\' --fast {x}"',
    ),
    **{
        f"{line} for objectives": (
            STUDY + line,
            f": [stop] has no key '{line.split()[0]}'; write value = \"maximize\" or the like in [objectives]",
        )
        for line in ("maximize = true", 'goal = "max"', 'direction = "maximize"', 'minimize = "cost"')
    },
    "no end": (
        STUDY.replace("[stop]\nevaluations = 20", ""),
        ": the table [stop] is missing; add [stop] with a line such as evaluations = 1000",
    ),
    "no evaluator": (
        edited((f"[evaluator]\n{MODEL_KEY}", "")),
        ': the table [evaluator] is missing; add [evaluator] with a line such as python = "model.py:f"',
    ),
    "hours for seconds": (
        edited(("evaluations = 20", 'wall_time_s = "1h"')),
        ': [stop] wall_time_s must be a number of seconds, here 3600, got "1h"',
    ),
    "milliseconds for seconds": (
        edited(("evaluations = 20", 'wall_time_s = "100 ms"')),
        ': [stop] wall_time_s must be a number, got "100 ms"',
    ),
    "a condition for a limit": (
        STUDY + '[limits]\nw = "<= 2"',
        ': [limits] w must be { upper = 2 }, got "<= 2"',
    ),
    "a regular expression for a figure": (
        edited((MODEL_KEY, 'command = ["./model.sh"]\nvalue = "energy = (.*)"')),
        ': [evaluator] value must be { regex = "energy = (.*)" }, got "energy = (.*)"',
    ),
    "a file for a figure": (
        edited((MODEL_KEY, 'command = ["./model.sh"]\nvalues = { e = "out.dat" }')),
        ': [evaluator] values.e must be { file = "out.dat" }, { key = … } or { regex = … }, got "out.dat"',
    ),
    "a template outside of a list": (
        edited((MODEL_KEY, 'command = ["./model.py"]\ntemplates = "input.in"')),
        ': [evaluator] templates must be ["input.in"], got "input.in"',
    ),
}


@pytest.mark.parametrize("mistake", FILES)
def test_wrong_study_files(folder, mistake):
    text, answer = FILES[mistake]
    (folder / "study.toml").write_text(text)
    with pytest.raises(InputError) as error:
        Study.from_file("study.toml")
    known = ", ".join(culmen._core.optimizer_names())
    assert without_line(str(error.value)) == "study.toml" + answer.replace("KNOWN", known)


@pytest.mark.parametrize("mistake", ["JSON", "a constraint with &", "the name of a method"])
def test_a_wrong_study_file_is_bad_input_and_leaves_nothing(folder, mistake):
    (folder / "study.toml").write_text(FILES[mistake][0])
    for command in ("run", "check"):
        done = typed(command, "study.toml", cwd=folder)
        assert done.returncode == 2
        assert done.stderr.startswith("culmen: study.toml")
        assert done.stderr.count("\n") == 1
        assert not (folder / "study.db").exists()


RIGHT = {
    "a byte order mark": b"\xef\xbb\xbf" + STUDY.encode(),
    "line ends of Windows": STUDY.replace("\n", "\r\n").encode(),
    "other scripts than Latin": STUDY.replace("x =", '"Γ_ρ" =').encode(),
}


@pytest.mark.parametrize("text", RIGHT)
def test_texts_of_other_systems_just_work(folder, text):
    (folder / "study.toml").write_bytes(RIGHT[text])
    assert len(Study.from_file("study.toml").config.space) == 2


def test_names_with_blanks_just_work(folder):
    (folder / "my model.py").write_text(MODEL)
    (folder / "my study.toml").write_text(STUDY.replace("model.py", "my model.py"))
    done = typed("run", "my study.toml", "--quiet", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert typed("status", "my study.db", cwd=folder).returncode == 0


S = {"x": (-5, 5), "y": (-5, 5)}


def f(p):
    return p["x"] ** 2


def with_store(name):
    return lambda: culmen.minimize(f, S, budget=9, store=name)


MINIMIZE = "culmen.minimize: "
CALLS = {
    "no end": (
        lambda: culmen.minimize(f, S),
        MINIMIZE + "at least one of budget, target, stagnation and wall_time_s must be given, otherwise the study "
        "never ends",
    ),
    "a value for the function": (
        lambda: culmen.minimize(f({"x": 1}), S, budget=9),
        MINIMIZE + "f must be a function, got 1",
    ),
    "a function of two": (
        lambda: culmen.minimize(lambda x, y: x + y, S, budget=9),
        MINIMIZE + "lambda x, y: takes 2 arguments, but culmen passes one; write lambda p: … p['x'] …",
    ),
    "a function of two, of a list": (
        lambda: culmen.minimize(lambda x, y: x + y, [(0, 1), (0, 1)], budget=9),
        MINIMIZE + "lambda x, y: takes 2 arguments, but culmen passes one; write lambda p: … p[0] …",
    ),
    "space and function exchanged": (
        lambda: culmen.minimize(S, "model.py:f", budget=9),
        "the space must be a dict such as {'x': (0, 1)}, or a list of pairs, got 'model.py:f'",
    ),
    "bounds upside down": (
        lambda: culmen.minimize(f, {"x": (5, -5)}, budget=9),
        "parameter 'x': lower bound 5 must be below upper bound -5",
    ),
    "one number for bounds": (
        lambda: culmen.minimize(f, (-5, 5), budget=9),
        "parameter 'x0': it must be a pair (lower, upper) or one of culmen.real(…), integer, ordinal, "
        "categorical and boolean, got -5",
    ),
    "a range for bounds": (
        lambda: culmen.minimize(f, {"x": range(1, 10)}, budget=9),
        "parameter 'x': got range(1, 10); write culmen.integer(1, 9)",
    ),
    "a range in steps for bounds": (
        lambda: culmen.minimize(f, {"x": range(0, 5, 2)}, budget=9),
        "parameter 'x': got range(0, 5, 2); write culmen.ordinal([0, 2, 4])",
    ),
    "a scale beside bounds": (
        lambda: culmen.minimize(f, {"x": (0, 1, "log")}, budget=9),
        "parameter 'x': got (0, 1, 'log'); write culmen.real(0.1, 1, scale=\"log\")",
    ),
    "the name of a method": (
        lambda: culmen.minimize(f, S, budget=9, optimizer="CMA"),
        "culmen.minimize: there is no optimizer 'CMA' (did you mean 'cmaes'?); known are KNOWN",
    ),
    "choices for bounds": (
        lambda: culmen.minimize(f, {"x": ["a", "b", "c"]}, budget=9),
        "parameter 'x': got ['a', 'b', 'c']; write culmen.categorical(['a', 'b', 'c'])",
    ),
    "a text for choices": (
        lambda: culmen.minimize(f, {"x": culmen.categorical("ab")}, budget=9),
        "parameter 'x': choices must be a list of strings or numbers, got 'ab'",
    ),
    "a constraint in Python": (
        lambda: culmen.minimize(f, S, budget=9, constraints=lambda p: p["x"] < 1),
        "constraints must be strings such as 'x + y <= 1', got a function",
    ),
    "one start without its list": (
        lambda: culmen.minimize(f, S, budget=9, starts={"x": 1, "y": 1}),
        MINIMIZE + 'starts must be a list of dicts such as [{"x": 1, "y": 2}], or of lists with a number '
        'for each parameter, got {"x": 1, "y": 1}',
    ),
    "objectives without directions": (
        lambda: culmen.minimize(f, S, budget=9, objectives=["cost", "range"]),
        MINIMIZE + 'objectives must be a dict such as {"cost": "minimize"}, got ["cost", "range"]',
    ),
    "limits as a pair": (
        lambda: culmen.minimize(f, S, budget=9, limits={"stress": (0, 1)}),
        MINIMIZE + 'limits.stress must be a dict such as {"stress": {"upper": 250}}, got [0, 1]',
    ),
    "a budget in floating point": (
        lambda: culmen.minimize(f, S, budget=1e4 + 0.5),
        MINIMIZE + "budget must be a whole number, got 10000.5",
    ),
    "no workers": (
        lambda: culmen.minimize(f, S, budget=9, workers=0),
        MINIMIZE + "workers must be at least 1, got 0",
    ),
    "a target that is none": (
        lambda: culmen.minimize(f, S, budget=9, target=math.nan),
        MINIMIZE + "target must be a finite number, got NaN",
    ),
    "residual for residuals": (
        lambda: culmen.minimize(f, S, budget=9, result="residual"),
        MINIMIZE + 'result must be "value" or "residuals", got "residual"; did you mean \'residuals\'?',
    ),
    "a store in no folder": (with_store("there/fit.db"), "there/fit.db: there is no folder {folder}/there"),
    "a folder for a store": (with_store("."), ". is a folder; give a store"),
    "a model for a store": (with_store("model.py"), "model.py: is not a culmen study"),
    "a limit of none for a study": (
        lambda: Study.from_file("study.toml", evaluations=-1),
        "study.toml: evaluations must be at least 1, got -1",
    ),
    "a limit that there is not": (
        lambda: Study.from_file("study.toml", budget=9),
        "study.toml: there is no 'budget'; did you mean 'evaluations'?",
    ),
    "a study file for a store": (
        lambda: Study.from_store("study.toml"),
        "study.toml is a study file, not a store; `culmen run study.toml` runs it",
    ),
}


@pytest.mark.parametrize("mistake", CALLS)
def test_wrong_calls_from_python(folder, mistake):
    call, answer = CALLS[mistake]
    with pytest.raises(InputError) as error:
        call()
    known = ", ".join(culmen._core.optimizer_names())
    assert without_line(str(error.value)) == answer.replace("{folder}", str(folder)).replace("KNOWN", known)
    assert not (folder / "fit.db").exists()


def test_errors_are_called_as_they_are_caught():
    assert f"{InputError.__module__}.{InputError.__qualname__}" == "culmen.InputError"


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

# What f does, and what is said of the first evaluation; exit code 1: all failed.
FUNCTIONS = {
    "print(p['x'] ** 2)": RETURNED + "None; it must return one number (is a return missing?)",
    "return '3.5'": RETURNED + "a str ('3.5'); it must return one number",
    "return [1, 2]": RETURNED + 'a list of 2; it must return one number (a vector needs result = "residuals")',
    "return 1 + 2j": RETURNED + "a complex ((1+2j)); it must return one number",
    "return {'chi2': 1.0}": RETURNED + "a dict of 1; it must return one number (values by name need [objectives])",
    "yield 1": RETURNED + "a generator; it must return one number",
    "return float('nan')": "evaluation 0 not finite: the value is nan",
    "return p.x": RAISED + "AttributeError: 'dict' object has no attribute 'x'; read a parameter as p['x']",
    "return p[0]": RAISED + "KeyError: 0; this candidate has the parameters x, y",
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
    done = typed("run", "study.toml", cwd=folder, timeout=60)
    said = (
        f"culmen: study.toml: [evaluator] cannot import {folder}/model.py: culmen.InputError: {folder}/model.py "
        'starts evaluations while a worker imports it; put that part of the script below `if __name__ == "__main__":`'
    )
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, said)


@pytest.mark.parametrize("run", ["culmen.minimize(f, [(0, 1)] * 2, budget=9)", RUNS["an executor"]])
def test_a_module_that_is_imported_does_not_start_itself_again_and_again(folder, run):
    (folder / "fit.py").write_text(f"import culmen\n{MODEL}{run}\n")
    done = subprocess.run(
        [PYTHON, "-c", "import fit"], cwd=folder, env=environment(), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert 'while a worker imports it; put that part of the script below `if __name__ == "__main__":`' in done.stderr
