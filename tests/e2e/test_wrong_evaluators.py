"""Mistakes of new users with programs and libraries in [evaluator], and the one sentence that says what to write."""

import re

import pytest
from harness import culmen as typed

pytestmark = pytest.mark.no_numbers

MODEL = "def f(p):\n    return (p['x'] - 1) ** 2 + p['y'] ** 2\n"
STUDY = """[space]
x = { lower = -5, upper = 5 }
y = { lower = -5, upper = 5 }
[evaluator]
EVALUATOR
[stop]
evaluations = 20
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    return tmp_path


def evaluator(line: str) -> str:
    return STUDY.replace("EVALUATOR", line)


PLACE = "culmen: study.toml: [evaluator]"
# [evaluator], other files, and what `culmen run study.toml` answers; exit code 2: nothing was evaluated.
EVALUATORS = {
    "a dot for a colon": (
        'python = "model.f"',
        {},
        PLACE + ': python must be "file.py:function" or "module:function", got "model.f"',
    ),
    "a call for a function": (
        'python = "model.py:f(p)"',
        {},
        PLACE + ': python = "model.py:f(p)": write only the function\'s name, as in "model.py:f"',
    ),
    "a library for Python": (
        'python = "libmodel.so:f"',
        {},
        PLACE + ': python = "libmodel.so:f": this is a compiled library; write library = "libmodel.so:f"',
    ),
    "Python for a library": (
        'library = "model.py:f"',
        {},
        PLACE + ': library = "model.py:f": this is a Python file; write python = "model.py:f"',
    ),
    "a source for a library": (
        'library = "model.c:f"',
        {},
        PLACE + ': library = "model.c:f": this is a source file; compile it and write library = "model.so:f"',
    ),
    "a library that is not compiled": (
        'library = "./model.so:f"',
        {"model.c": ""},
        PLACE + ' library = "./model.so": there is no file {folder}/model.so; compile it from model.c',
    ),
    "a program that is not there": (
        'command = ["no-such-program"]',
        {},
        PLACE + " the command's program 'no-such-program' is not on PATH",
    ),
    "a program beside the study file": (
        'command = ["model.sh"]',
        {"model.sh": "#!/bin/sh\necho 3\n"},
        PLACE
        + " the command's program 'model.sh' is not on PATH; write \"./model.sh\" for the one beside the study file",
    ),
    "a variable for a shell that is not there": (
        'command = ["python3", "$CULMEN_STUDY_FOLDER/model.py"]',
        {},
        PLACE + ' command: no shell reads "$CULMEN_STUDY_FOLDER/model.py"; write "{CULMEN_STUDY_FOLDER}/model.py"',
    ),
    "a parameter as a shell's variable": (
        'command = ["python3", "--x=$x"]',
        {},
        PLACE + ' command: no shell reads "--x=$x"; write "--x={x}"',
    ),
    "a place for no parameter": (
        'command = ["echo", "{x}", "{yy}"]',
        {},
        PLACE
        + " command: {yy} is not a parameter, and the parameter 'y' is not used; write {y} in a word of the command, "
        'in a template or in a value of environment, or write stdin = "json"',
    ),
    "a redirection": (
        'command = ["./model.sh", "{x}", ">", "out.txt"]',
        {"model.sh": "#!/bin/sh\necho 3\n"},
        PLACE + ' command: no shell reads ">"; write ["sh", "-c", "a line for a shell"]',
    ),
    "a script and its arguments as one word": (
        'command = ["./model.sh --x={x}"]',
        {"model.sh": "#!/bin/sh\necho 3\n"},
        PLACE + ' command = ["./model.sh --x={x}"]: write each word separately: ["./model.sh", "--x={x}"]',
    ),
    "a program and its arguments as one word": (
        'command = ["python3 model.py"]',
        {},
        PLACE + " the command's program 'python3 model.py' is not on PATH; write each word separately: "
        '["python3", "model.py"]',
    ),
    "a program that is not executable": (
        'command = ["./model.py"]',
        {},
        PLACE + " the command's program '{folder}/model.py' is not an executable file (looked at {folder}/model.py); "
        "`chmod +x {folder}/model.py` makes it one",
    ),
    "a script of what is not there": (
        'command = ["./model.sh"]',
        {"model.sh": "#!/bin/pyton\n"},
        PLACE + " the first line of {folder}/model.sh names the program /bin/pyton, which was not found",
    ),
    "a script of Windows": (
        'command = ["./model.sh"]',
        {"model.sh": "#!/bin/sh\r\necho 3\r\n"},
        PLACE
        + " the lines of {folder}/model.sh end as on Windows; `sed -i 's/\\r$//' {folder}/model.sh` corrects them",
    ),
}


@pytest.mark.parametrize("mistake", EVALUATORS)
def test_evaluators_that_cannot_be_had(folder, mistake):
    line, files, answer = EVALUATORS[mistake]
    (folder / "study.toml").write_text(evaluator(line))
    for name, text in files.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    done = typed("run", "study.toml", cwd=folder)
    assert (done.returncode, re.sub(r" \(line \d+\)$", "", done.stderr, flags=re.MULTILINE)) == (
        2,
        answer.replace("{folder}", str(folder)) + "\n",
    )


ELSEWHERE = (
    "it runs in its own folder, which does not contain 'fit.py'; write "
    'inputs = { copy = ["fit.py"] } to copy it there, or "{CULMEN_STUDY_FOLDER}/fit.py" to use it where it is'
)


def test_a_script_that_stays_beside_the_study_file_is_noted_before_it_fails(folder):
    (folder / "fit.py").write_text("import os\nprint(float(os.environ['x']) ** 2)\n")
    (folder / "study.toml").write_text(evaluator('command = ["python3", "fit.py"]'))
    for command in ("check", "run"):
        done = typed(command, "study.toml", cwd=folder)
        assert done.stderr.splitlines()[0] == f"culmen: note: study.toml: [evaluator] command: {ELSEWHERE}"
        assert (done.returncode, f"exit code 2 ({ELSEWHERE})" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    "lines",
    [
        'command = ["python3", "fit.py"]\ninputs = { copy = ["fit.py"] }',
        'command = ["python3", "{CULMEN_STUDY_FOLDER}/fit.py"]',
        'command = ["sh", "-c", "$MODEL"]\nenvironment = { MODEL = "python3 {CULMEN_STUDY_FOLDER}/fit.py" }',
        'command = ["sh", "-c", \'$CULMEN_STUDY_FOLDER/fit.sh\']',
    ],
)
def test_each_way_to_a_script_beside_the_study_file_works(folder, lines):
    (folder / "fit.py").write_text("import os\nprint(float(os.environ['x']) ** 2)\n")
    (folder / "fit.sh").write_text("#!/bin/sh\npython3 $CULMEN_STUDY_FOLDER/fit.py\n")
    (folder / "fit.sh").chmod(0o755)
    (folder / "study.toml").write_text(evaluator(lines))
    done = typed("check", "study.toml", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "lines",
    [
        """command = ["awk", "BEGIN { print ENVIRON[\\"x\\"] }"]""",
        """command = ["echo", "{x}", "{print}", "{y}"]\nvalue = { regex = '(.*) .print' }""",
        """command = ["sh", "-c", "echo {print}; echo $x"]""",
        """command = ["sh", "-c", "echo {print}; jq .x"]\nstdin = "json"\n""".replace("jq .x", "echo $x"),
        """command = ["env", "A={print}", "sh", "-c", "echo $x"]\nenvironment = { X2 = "{x}", Y2 = "{y}" }""",
    ],
)
def test_braces_of_other_tools_stay_as_they_are(folder, lines):
    (folder / "study.toml").write_text(evaluator(lines))
    done = typed("check", "study.toml", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")


SAME = "culmen: note: different candidates gave the same value; check that the parameters reach the evaluator"


@pytest.mark.parametrize(
    ("line", "advice"),
    [('python = "model.py:f"', ""), ('command = ["echo", "3"]', " ({x} in a word of the command is its value)")],
)
def test_parameters_that_change_nothing_are_noted(folder, line, advice):
    (folder / "study.toml").write_text(evaluator(line))
    (folder / "model.py").write_text("def f(p):\n    return 3\n")
    done = typed("check", "study.toml", cwd=folder)
    assert (done.returncode, done.stderr) == (0, f"{SAME}{advice}\n")
