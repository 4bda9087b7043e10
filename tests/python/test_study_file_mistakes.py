"""Study files with mistakes, and the one sentence for each."""

import pytest
from study_texts import EVALUATOR, STUDY, X, with_

from culmen import InputError, Study, _core

pytestmark = pytest.mark.no_numbers

WRONG = {
    "unknown key": ("sede = 3" + STUDY, "study.toml: the top level has no key 'sede'; did you mean 'seed'?"),
    "unknown table": (STUDY + "[stopp]\n", "study.toml: the top level has no key 'stopp'; did you mean 'stop'?"),
    "key of another table": (
        STUDY + "workers = 3\n",
        "study.toml: [stop] has no key 'workers'; it belongs in [run]",
    ),
    "key that is like none": (
        STUDY + "zzz = 3\n",
        "study.toml: [stop] has no key 'zzz'; the keys are evaluations, target, stagnation, ",
    ),
    "unknown key of a parameter": (
        with_("upper = 5", "uper = 5"),
        "study.toml: [space] x has no key 'uper'; did you mean 'upper'?",
    ),
    "no space": (
        '[evaluator]\npython = "model.py:chi2"\n[stop]\nevaluations = 1',
        "study.toml: the table [space] is missing; add [space] with a line such as x = { lower = 0, upper = 1 }",
    ),
    "empty space": (
        '[space]\n[evaluator]\npython = "model.py:chi2"\n[stop]\nevaluations = 1',
        "study.toml: [space] must have at least one entry, got {}",
    ),
    "parameter that is no table": (
        with_(X, "x = 5"),
        "study.toml: [space] x must be a table such as { lower = 0, upper = 1 }, got 5",
    ),
    "bound that is a text": (
        with_("lower = -5", 'lower = "low"'),
        'study.toml: [space] x.lower must be a number, got "low"',
    ),
    "bounds upside down": (
        with_("lower = -5", "lower = 50"),
        "study.toml: [space] parameter 'x': lower bound 50 must be below upper bound 5",
    ),
    "log bound that is not positive": (
        with_("lower = 1e-6", "lower = 0"),
        "study.toml: [space] parameter 'tau': a log scale needs a lower bound above 0, got 0",
    ),
    "integer on a log scale": (
        with_("lower = 1, upper = 10 }", 'lower = 0, upper = 10, scale = "log" }'),
        "study.toml: [space] parameter 'n': a log scale needs a lower bound above 0, got 0",
    ),
    "integer bound that is not whole": (
        with_("upper = 10 }", "upper = 9.5 }"),
        "study.toml: [space] parameter 'n': integer bounds must be whole numbers, got [1, 9.5]",
    ),
    "unknown scale": (
        with_('"log"', '"lag"'),
        'study.toml: [space] tau.scale must be "linear" or "log", got "lag"; did you mean \'log\'?',
    ),
    "two evaluators": (
        with_(EVALUATOR, EVALUATOR + '\ncommand = ["true"]'),
        "study.toml: [evaluator]: exactly one of python, library and command must be given, got python, command",
    ),
    "no evaluator": (
        with_(EVALUATOR, ""),
        "study.toml: [evaluator]: exactly one of python, library and command must be given, got none",
    ),
    "python without a function": (
        with_(EVALUATOR, 'python = "model.py"'),
        'study.toml: [evaluator]: python must be "file.py:function" or "module:function", got "model.py"',
    ),
    "file that is not there": (
        with_(EVALUATOR, 'python = "modle.py:chi2"'),
        "study.toml: [evaluator] python = \"modle.py\": there is no file {folder}/modle.py; did you mean 'model.py'?",
    ),
    "library that is not there": (
        with_(EVALUATOR, 'library = "libzz.so:f"'),
        'study.toml: [evaluator] library = "libzz.so": there is no file {folder}/libzz.so',
    ),
    "command that is a text": (
        with_(EVALUATOR, 'command = "./run.sh"'),
        'study.toml: [evaluator] command must be ["./run.sh"], got "./run.sh"',
    ),
    "command that is empty": (
        with_(EVALUATOR, "command = []"),
        "study.toml: [evaluator] command must have at least one entry, got []",
    ),
    "no isolation for Python": (
        with_(EVALUATOR, EVALUATOR + '\nisolation = "none"'),
        'study.toml: [evaluator]: isolation = "none" is only for library; a python evaluator always has its own '
        "process",
    ),
    "time limit of nothing": (
        with_(EVALUATOR, EVALUATOR + "\ntime_limit_s = 0"),
        "study.toml: [evaluator] time_limit_s must be above 0, got 0",
    ),
    "unknown policy": (
        with_(EVALUATOR, EVALUATOR + '\non_failure = "penalize"'),
        'study.toml: [evaluator] on_failure must be "penalise", "retry" or "stop", got "penalize"; '
        "did you mean 'penalise'?",
    ),
    "two ways to one figure": (
        with_(EVALUATOR, 'command = ["cat"]\nvalue = { key = "a", regex = "b" }'),
        "study.toml: [evaluator] value: give either key (for JSON) or regex (for any text)",
    ),
    "which without regex": (
        with_(EVALUATOR, 'command = ["cat"]\nvalues = { e = { file = "a", which = "first" } }'),
        'study.toml: [evaluator] values.e: which = "first" needs regex, which is missing',
    ),
    "figure with an unknown key": (
        with_(EVALUATOR, 'command = ["cat"]\nvalue = { regexp = "b" }'),
        "study.toml: [evaluator] value has no key 'regexp'; did you mean 'regex'?",
    ),
    "figure in a file elsewhere": (
        with_(EVALUATOR, 'command = ["cat"]\nvalue = { file = "/tmp/out.dat" }'),
        "study.toml: [evaluator] value: must be a path in the folder of the evaluation, such as "
        '"result.dat", got "/tmp/out.dat"',
    ),
    "no regular expression": (
        with_(EVALUATOR, 'command = ["cat"]\nvalue = { regex = "E (" }'),
        "study.toml: [evaluator] value: 'E (' is not a regular expression: missing ): E (",
    ),
    "value beside residuals": (
        with_(EVALUATOR, 'command = ["cat"]\nvalue = { key = "a" }\nresiduals = { key = "b" }'),
        "study.toml: [evaluator]: give either value or residuals; the value is the sum of the squares of the residuals",
    ),
    "figures of a function": (
        with_(EVALUATOR, EVALUATOR + '\nvalue = { key = "a" }'),
        "study.toml: [evaluator]: value is only for command; a function returns its value",
    ),
    "templates of a function": (
        with_(EVALUATOR, EVALUATOR + '\ntemplates = ["a.in"]'),
        "study.toml: [evaluator]: templates is only for command; a python function does not need it",
    ),
    "batch of a command": (
        with_(EVALUATOR, 'command = ["cat"]\nbatch = 3'),
        "study.toml: [evaluator]: batch is only for Python functions; a command receives one candidate at a time",
    ),
    "batch of nothing": (
        with_(EVALUATOR, EVALUATOR + "\nbatch = 0"),
        "study.toml: [evaluator] batch must be at least 1, got 0",
    ),
    "template that is not there": (
        with_(EVALUATOR, 'command = ["cat"]\ntemplates = ["modle.py"]'),
        'study.toml: [evaluator] templates = "modle.py": there is no file {folder}/modle.py; '
        "did you mean 'model.py'?",
    ),
    "templates that are a text": (
        with_(EVALUATOR, 'command = ["cat"]\ntemplates = "a.in"'),
        'study.toml: [evaluator] templates must be ["a.in"], got "a.in"',
    ),
    "input that is not there": (
        with_(EVALUATOR, 'command = ["cat"]\ninputs = { link = ["zz.dat"] }'),
        'study.toml: [evaluator] inputs.link = "zz.dat": there is no file {folder}/zz.dat',
    ),
    "input that holds the study": (
        with_(EVALUATOR, 'command = ["cat"]\ninputs = { copy = ["."] }'),
        'study.toml: [evaluator] inputs.copy = ".": this folder contains the study; name only the files that '
        "the program reads",
    ),
    "inputs with an unknown key": (
        with_(EVALUATOR, 'command = ["cat"]\ninputs = { links = ["zz.dat"] }'),
        "study.toml: [evaluator] inputs has no key 'links'; did you mean 'link'?",
    ),
    "unknown standard input": (
        with_(EVALUATOR, 'command = ["cat"]\nstdin = "jsn"'),
        'study.toml: [evaluator] stdin must be "json", got "jsn"; did you mean \'json\'?',
    ),
    "unknown policy of folders": (
        with_(EVALUATOR, 'command = ["cat"]\nkeep = "failure"'),
        'study.toml: [evaluator] keep must be "all", "failures" or "none", got "failure"; did you mean \'failures\'?',
    ),
    "variable of culmen": (
        with_(EVALUATOR, EVALUATOR + '\nenvironment = { CULMEN_RUN = "1" }'),
        "study.toml: [evaluator]: environment.CULMEN_RUN: names that begin with CULMEN_ are reserved for culmen",
    ),
    "variable that is a number": (
        with_(EVALUATOR, EVALUATOR + "\nenvironment = { OMP_NUM_THREADS = 1 }"),
        "study.toml: [evaluator] environment.OMP_NUM_THREADS must be a string in quotes, got 1",
    ),
    "place of a parameter that is misspelt": (
        with_(EVALUATOR, 'command = ["cat", "--tau={tao}"]'),
        "study.toml: [evaluator] command, '--tau={tao}': {tao} is not a parameter (did you mean 'tau'?)",
    ),
    "no isolation with an environment": (
        with_(EVALUATOR, 'library = "model.so:f"\nisolation = "none"\nmodules = ["gcc/12"]'),
        'study.toml: [evaluator]: modules needs isolation = "process": it applies to the process of the evaluator',
    ),
    "unknown optimizer": (
        STUDY + '[optimizer]\nname = "cmase"',
        "study.toml: [optimizer] there is no optimizer 'cmase' (did you mean 'cmaes'?); known are "
        + ", ".join(_core.optimizer_names()),
    ),
    "unknown option of the optimizer": (
        STUDY + '[optimizer]\nname = "cmaes"\nsigm = 0.3',
        "study.toml: [optimizer] optimizer 'cmaes' has no option 'sigm' (did you mean 'sigma'?); "
        "it has constraints, covariance, noise, parallel, population, sigma",
    ),
    "option that is a text": (
        STUDY + '[optimizer]\nname = "cmaes"\nsigma = "wide"',
        "study.toml: [optimizer] optimizer 'cmaes': option 'sigma' is \"wide\", it must be a number from 1e-06 to 1",
    ),
    "option that is neither number nor word": (
        STUDY + '[optimizer]\nname = "cmaes"\nsigma = [0.1]',
        "study.toml: [optimizer] option 'sigma' must be a number, a string, true or false, got [0.1]",
    ),
    "optimizer that needs residuals": (
        with_("n = {", "# n = {") + '[optimizer]\nname = "lm"',
        "study.toml: [optimizer] optimizer 'lm' needs residuals: return them from the evaluator and write result = "
        '"residuals", or remove the optimizer, and culmen chooses one',
    ),
    "optimizer that needs real parameters": (
        with_(EVALUATOR, EVALUATOR + '\nresult = "residuals"') + '[optimizer]\nname = "lm"',
        "study.toml: [optimizer] optimizer 'lm' needs real parameters that are always active; 'n' is integer; "
        "remove the optimizer, and culmen chooses one",
    ),
    "no stop rule": (
        with_("evaluations = 100", ""),
        "study.toml: [stop]: at least one of evaluations, target, stagnation and wall_time_s must be given, "
        "otherwise the study may never end",
    ),
    "budget of none": (
        with_("evaluations = 100", "evaluations = 0"),
        "study.toml: [stop] evaluations must be at least 1, got 0",
    ),
    "budget that is a fraction": (
        with_("evaluations = 100", "evaluations = 1.5"),
        "study.toml: [stop] evaluations must be a whole number, got 1.5",
    ),
    "target that is not finite": (
        with_("evaluations = 100", "target = nan"),
        "study.toml: [stop] target must be a finite number, got NaN",
    ),
    "no worker": (STUDY + "[run]\nworkers = 0", "study.toml: [run] workers must be at least 1, got 0"),
    "yes for true": (
        STUDY + '[run]\nprefetch = "yes"',
        'study.toml: [run] prefetch must be true or false, got "yes"',
    ),
    "name with a slash": ('name = "a/b"' + STUDY, "study.toml: name must be a name without '/', got \"a/b\""),
    "seed beyond 63 bits": (
        "seed = 99999999999999999999" + STUDY,
        "study.toml: seed must be below 9.22337e+18, got 99999999999999999999",
    ),
    "negative seed": ("seed = -1" + STUDY, "study.toml: seed must be at least 0, got -1"),
    "two mistakes": (
        "sede = 3" + with_("evaluations = 100", "evaluations = 0"),
        "study.toml: the top level has no key 'sede'; did you mean 'seed'? (line 1)\n"
        "study.toml: [stop] evaluations must be at least 1, got 0 (line 11)",
    ),
    "no TOML": ("[space\n", "study.toml is not valid TOML: Expected ']' at the end of a table declaration"),
    "a key twice": ("seed = 1\nseed = 2", "study.toml is not valid TOML: "),
}


MANY = """sede = 3
[space]
x = { lower = 5, upper = -5 }
y = { lower = 0, upper = 1, active_when = "z > 1" }

[constraints]
sum = "x + q < 1"
[limits]
stress = { upper = "high" }

[[starts]]
x = 1
[evaluator]
python = "modl.py:chi2"
[optimizer]
name = "random"
sigma = 1
[stop]
evaluations = 100
target = 3
[objectives]
a = "minimize"
b = "minimize"
"""
SEVERAL = {
    "of all kinds": (
        MANY,
        [
            (1, "the top level has no key 'sede'; did you mean 'seed'?"),
            (3, "[space] parameter 'x': lower bound 5 must be below upper bound -5"),
            (9, '[limits] stress.upper must be a number, got "high"'),
            (14, "[evaluator] python = \"modl.py\": there is no file {folder}/modl.py; did you mean 'model.py'?"),
            (20, "[stop] target = 3.0: it needs one objective, but there are several; remove it"),
        ],
    ),
    "of what depends on the space": (
        MANY.replace("5, upper = -5", "-5, upper = 5").replace('"z > 1"', '"x > 1"').replace("sede", "seed")
        .replace('"high"', "1").replace("modl", "model").replace("target = 3\n", "") + "[[starts]]\nx = 7\n",
        [
            (7, "[constraints] constraint 'sum': \"x + q < 1\", character 5: there is no parameter 'q'"),
            (23, "[[starts]] number 2: parameter 'x': 7 is outside [-5, 5]"),
        ],
    ),
    "of conditions and options": (
        STUDY.replace('log" }', 'log", active_when = "q > 1" }').replace("= 10 }", '= 10, active_when = "x >" }'),
        [
            (4, "[space] parameter 'tau', its condition: \"q > 1\", character 1: there is no parameter 'q'"),
            (5, "[space] parameter 'n', its condition: \"x >\", character 4"),
        ],
    ),
    "of options": (
        STUDY + '[optimizer]\nname = "random"\nsigma = 1\nkappa = 2\n',
        [
            (14, "[optimizer] optimizer 'random' has no option 'sigma'; it has none"),
            (15, "[optimizer] optimizer 'random' has no option 'kappa'; it has none"),
        ],
    ),
    "of a command's files": (
        with_(EVALUATOR, 'command = ["./no.sh"]\ntemplates = ["a.in"]\ninputs.link = ["b.dat"]'),
        [
            (8, '[evaluator] command = "./no.sh": there is no file {folder}/no.sh'),
            (9, '[evaluator] templates = "a.in": there is no file {folder}/a.in'),
            (10, '[evaluator] inputs.link = "b.dat": there is no file {folder}/b.dat'),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", SEVERAL)
def test_all_mistakes_are_named_with_their_lines(folder, which):
    text, expected = SEVERAL[which]
    (folder / "study.toml").write_text(text)
    with pytest.raises(InputError) as error:
        Study.from_file("study.toml")
    found = str(error.value).splitlines()
    assert [line.rpartition(" (line ")[2] for line in found] == [f"{number})" for number, _ in expected], found
    for line, (_, sentence) in zip(found, expected, strict=True):
        assert line.startswith("study.toml: " + sentence.replace("{folder}", str(folder)))


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_in_a_study_file_is_one_sentence(folder, mistake):
    text, expected = WRONG[mistake]
    (folder / "study.toml").write_text(text)
    with pytest.raises(InputError) as error:
        Study.from_file("study.toml")
    assert str(error.value).startswith(expected.replace("{folder}", str(folder)))


def test_a_file_that_is_not_there_is_named_with_its_neighbour(folder):
    with pytest.raises(InputError, match=r"there is no study file studi.toml; did you mean 'study.toml'\?"):
        Study.from_file("studi.toml")


def test_a_folder_and_a_binary_file_are_no_study_files(folder):
    with pytest.raises(InputError, match=r"\. is a folder; give a study file, such as study\.toml"):
        Study.from_file(".")
    (folder / "study.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"it is not a text in UTF-8 \(byte 0\)"):
        Study.from_file("study.toml")


@pytest.mark.parametrize(
    "line",
    [
        f"deep = {'[' * 5000}{']' * 5000}",
        f"deep = {'{a = ' * 5000}1{'}' * 5000}",
        f"seed{'.a' * 5000} = 1",
    ],
    ids=["brackets", "braces", "points"],
)
def test_a_file_that_nests_too_deeply_is_one_sentence(folder, line):
    (folder / "study.toml").write_text(f"{line}\n{STUDY}")
    with pytest.raises(InputError) as error:
        Study.from_file("study.toml")
    assert str(error.value) == "study.toml is not a study file: its tables or lists nest too deeply"
