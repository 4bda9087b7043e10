"""Wrong study files, and the one sentence that says what to write instead; and unusual ones that are right."""

import pytest
from harness import culmen as typed
from wrong_uses import MODEL, MODEL_KEY, STUDY, X, edited, without_line

import culmen
from culmen import InputError, Study

pytestmark = pytest.mark.no_numbers

# The text of the study file, and what `culmen run study.toml` says of it, without its name.
FILES = {
    "JSON": ('{"space": {}}', " is JSON, but a study file is TOML (create one with `culmen init`)"),
    "a colon for =": (
        edited((X, "x: [-5, 5]")),
        " is not valid TOML: Expected '=' after a key in a key/value pair (at line 2, column 2): x: [-5, 5]; "
        "a study file is TOML: write x = … instead of x: …",
    ),
    "true in capitals": (
        "generational = True\n" + STUDY,
        " is not valid TOML: Invalid value (at line 1, column 16): generational = True; write true in small letters",
    ),
    "None": (
        "store = None\n" + STUDY,
        " is not valid TOML: Invalid value (at line 1, column 9): store = None; remove the line: a key that is left "
        "out has its default",
    ),
    "a tuning file": (
        STUDY + "[tune]\nrounds = 10\n",
        " is a tuning file, not a study file; write `culmen tune command study.toml`",
    ),
    "random_state for seed": (
        "random_state = 1\n" + STUDY,
        ": the top level has no key 'random_state'; did you mean 'seed'?",
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
        ': [evaluator] command must be ["python3", "{CULMEN_STUDY_FOLDER}/model.py"], got "python3 model.py"',
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
