"""From nothing to a first result: `culmen init`, `check`, `run`."""

import json
import re
import subprocess

import pytest
from harness import culmen
from wrong_uses import STUDY

from culmen import Study, _core

pytestmark = pytest.mark.no_numbers

FIRST = {"library": 'cc -O2 -shared -fPIC -I"$(culmen include)" -o fit.so fit.c -lm'}


@pytest.mark.parametrize("kind", ["python", "library", "command"])
def test_what_init_writes_is_right_and_runs(kind, tmp_path):
    begun = culmen("init", "fit", "--kind", kind, cwd=tmp_path)
    assert begun.returncode == 0, begun.stderr
    assert "culmen check fit.toml" in begun.stdout
    if kind in FIRST:
        assert FIRST[kind] in begun.stdout
        subprocess.run(FIRST[kind], shell=True, cwd=tmp_path, check=True)  # noqa: S602 - as it is printed
    checked = culmen("check", "fit.toml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.endswith("fit.toml is correct.\n")
    assert "3 trial evaluations: " in checked.stdout
    assert not (tmp_path / "fit.db").exists()
    run = culmen("run", "fit.toml", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    value = json.loads(culmen("status", "fit.db", "--json", cwd=tmp_path).stdout)["best_value"]
    assert value < (1e-6 if kind == "command" else 0.5), "the program prints all digits"


def test_init_overwrites_nothing(tmp_path):
    (tmp_path / "fit.py").write_text("mine")
    again = culmen("init", "fit", cwd=tmp_path)
    assert again.returncode == 2
    assert again.stderr == "culmen: fit.py exists already, and `culmen init` replaces no file; give another name\n"
    assert not (tmp_path / "fit.toml").exists()
    assert (tmp_path / "fit.py").read_text() == "mine"


def test_the_lines_that_init_offers_are_right_too(tmp_path):
    culmen("init", "fit", cwd=tmp_path)
    study = tmp_path / "fit.toml"
    text = re.sub(r"# (starts|loss|f_scale) = .*\n", "", study.read_text())
    text = re.sub(r"# \[limits\](.*\n)*?(?=# The evaluator:)", "", text)
    text = re.sub(r"# \[optimizer\]\n(.*\n)*?(?=# The study ends)", "", text)  # lm cannot have the choices
    offered = [line.removeprefix("# ") for line in text.splitlines()]
    study.write_text("\n".join(line for line in offered if " = " in line or line.startswith("[")))
    checked = culmen("check", "fit.toml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    for word in (
        "categorical fast, exact",
        "decay: rate * 8 >= 1",
        "of random points)",
    ):
        assert word in checked.stdout


@pytest.mark.parametrize(("kind", "name"), [("python", "lm"), ("library", "auto"), ("command", "auto")])
def test_the_optimizer_that_init_offers_is_the_one_that_culmen_chooses(tmp_path, kind, name):
    culmen("init", "fit", "--kind", kind, cwd=tmp_path)
    study = tmp_path / "fit.toml"
    before, _, block = study.read_text().partition("# [optimizer]\n")
    block, _, after = block.partition("\n\n")
    offered = [line.removeprefix("# ") for line in block.splitlines()]
    options = {
        option["name"] for entry in _core.optimizer_catalogue() if entry["name"] == name for option in entry["options"]
    }
    assert {line.partition(" = ")[0] for line in offered if " = " in line} == {"name", *options}
    config = Study.from_file(study).config if kind == "python" else None
    assert config is None or config.optimizer == name
    study.write_text("\n".join([before, "[optimizer]", *offered, "", after]))
    subprocess.run(FIRST[kind], shell=True, cwd=tmp_path, check=True) if kind in FIRST else None  # noqa: S602
    checked = culmen("check", "fit.toml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert re.search(rf"optimizer +{name}", checked.stdout)


@pytest.mark.parametrize(
    ("heading", "shown"),
    [
        ("[objectives]", "goal +maximize value"),
        ("[limits]", "goal +least value; value <= 250"),
    ],
)
def test_goals_that_init_offers_are_right(tmp_path, heading, shown):
    culmen("init", "fit", "--kind", "command", cwd=tmp_path)
    study = tmp_path / "fit.toml"
    before, _, block = study.read_text().partition(f"# {heading}\n")
    block, _, after = block.partition("\n\n")
    study.write_text(f"{before}{heading}\n{block.replace('# ', '', block.count(chr(10)) + 1)}\n\n{after}")
    checked = culmen("check", "fit.toml", "--evaluate", 0, cwd=tmp_path)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert re.search(shown, checked.stdout), checked.stdout


def test_a_start_that_init_offers_is_right(tmp_path):
    culmen("init", "fit", "--kind", "command", cwd=tmp_path)
    study = tmp_path / "fit.toml"
    study.write_text(study.read_text().replace("# starts = ", "starts = "))
    checked = culmen("check", "fit.toml", "--evaluate", 0, cwd=tmp_path)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert re.search(r"x +│ real \[-5, 5\] linear +│ 1 ", checked.stdout), checked.stdout


def test_check_names_every_mistake(tmp_path):
    culmen("init", "fit", cwd=tmp_path)
    study = tmp_path / "fit.toml"
    text = study.read_text().replace("upper = 10.0", 'upper = "ten"').replace("evaluations", "evaluatons")
    study.write_text(text)
    line = next(n for n, words in enumerate(text.splitlines(), 1) if words.startswith("evaluatons"))
    checked = culmen("check", "fit.toml", cwd=tmp_path)
    assert checked.returncode == 2
    assert checked.stderr.splitlines() == [
        'culmen: fit.toml: [space] amplitude.upper must be a number, got "ten" (line 10)',
        f"culmen: fit.toml: [stop] has no key 'evaluatons'; did you mean 'evaluations'? (line {line})",
    ]


def test_check_estimates_what_the_study_costs(tmp_path):
    culmen("init", "fit", cwd=tmp_path)
    model = tmp_path / "fit.py"
    model.write_text(
        model.read_text().replace("    return [(model", "    import time\n    time.sleep(0.1)\n    return [(model")
    )
    study = tmp_path / "fit.toml"
    study.write_text(study.read_text().replace("# [run]", "[run]").replace("# workers = 8", "workers = 4"))
    checked = culmen("check", "fit.toml", cwd=tmp_path)
    hours, minutes, seconds = re.search(r"3000 with 4 workers take about (\d+):(\d+):(\d+)", checked.stdout).groups()
    assert int(hours) * 3600 + int(minutes) * 60 + int(seconds) >= 75  # 0.1 s each; a busy machine takes longer


SLOW_OR_FAILING = """
import time
from pathlib import Path

def f(p):
    Path(__file__).with_name(f"{time.monotonic_ns()}.call").touch()
    if len(list(Path(__file__).parent.glob("*.call"))) > 1:
        raise ValueError("too small")
    time.sleep(0.2)
    return p["x"]
"""
ONE_WORKER = """
[space]
x = { lower = 0.0, upper = 1.0 }
[evaluator]
python = "model.py:f"
[stop]
evaluations = 3000
[run]
workers = 1
"""


def test_the_estimate_leaves_failed_evaluations_out(tmp_path):
    (tmp_path / "model.py").write_text(SLOW_OR_FAILING)
    (tmp_path / "fit.toml").write_text(ONE_WORKER)
    checked = culmen("check", "fit.toml", cwd=tmp_path)
    told = re.search(r"3000 with 1 workers? take about (\d+):(\d+):(\d+) if none fails", checked.stdout)
    assert told, checked.stdout + checked.stderr
    hours, minutes, seconds = told.groups()
    assert int(hours) * 3600 + int(minutes) * 60 + int(seconds) >= 600  # 0.2 s each


def test_without_a_success_there_is_no_estimate(tmp_path):
    (tmp_path / "model.py").write_text("def f(p):\n    raise ValueError('never')\n")
    (tmp_path / "fit.toml").write_text(ONE_WORKER)
    checked = culmen("check", "fit.toml", cwd=tmp_path)
    assert "3 of 3 evaluations failed" in checked.stderr
    assert "take about" not in checked.stdout


def test_check_says_what_fails(tmp_path):
    culmen("init", "fit", cwd=tmp_path)
    model = tmp_path / "fit.py"
    model.write_text(model.read_text().replace("p['rate']", "p['rat']").replace('p["rate"]', 'p["rat"]'))
    checked = culmen("check", "fit.toml", cwd=tmp_path)
    assert checked.returncode == 1
    assert "culmen: 3 of 3 evaluations failed; the first: KeyError: 'rat'" in checked.stderr


MODEL = "def f(p):\n    print('at', p['x'])\n    return p['x'] ** 2\n"
NAMED = '[optimizer]\nname = "NAME"\n'
INITIAL = STUDY.replace("upper = 5 }\ny", "upper = 5, initial = 2.0 }\ny")
BEGINNINGS = {
    "auto": (STUDY, ["start", "(0: the middle)", "(0: the middle)"]),
    "cmaes": (STUDY + NAMED.replace("NAME", "cmaes"), ["centre", "(0: the middle)", "(0: the middle)"]),
    "scan": (STUDY + NAMED.replace("NAME", "scan"), ["start", "(0: the middle)", "(0: the middle)"]),
    "random": (STUDY + NAMED.replace("NAME", "random"), []),
    "an initial value": (INITIAL + NAMED.replace("NAME", "random"), ["start", "2", "(0: the middle)"]),
    "a start": (STUDY + "[[starts]]\nx = 3\ny = 1\n", ["start", "3", "1"]),
    "a start that is left out": (
        INITIAL + NAMED.replace("NAME", "random") + "[constraints]\none = 'x > 3'\n", [],
    ),
}  # fmt: skip


@pytest.fixture
def tried(tmp_path):
    """The answer of `culmen check` to the text of a study file, and to a model."""

    def check(text, model=MODEL, *words):
        (tmp_path / "model.py").write_text(model)
        (tmp_path / "study.toml").write_text(text)
        return culmen("check", "study.toml", *words, cwd=tmp_path)

    return check


@pytest.mark.parametrize("what", BEGINNINGS)
def test_check_says_where_the_search_begins_if_it_begins_anywhere(tried, what):
    text, column = BEGINNINGS[what]
    shown = tried(text, MODEL, "--evaluate", 0).stdout.splitlines()
    rows = [[cell.strip() for cell in re.split("[│┃]", line)][1:-1] for line in shown if line[:1] in ("│", "┃")]
    assert [row[2] for row in rows if len(row) > 2] == column, shown


def test_check_shows_what_a_function_prints(tried):
    shown = tried(STUDY).stdout
    assert 'Evaluation 0 printed (a run keeps it with output = "all"):\n  at 0.0\n' in shown
    assert (
        "  … and 2 more lines\n" in tried(STUDY, MODEL.replace("print(", "print(*range(11), sep='\\n'); print(")).stdout
    )


def test_check_shows_all_objectives(tried):
    text = STUDY + '[objectives]\ncost = "minimize"\ngain = "maximize"\n'
    shown = tried(text, "def f(p):\n    return {'cost': 1.5, 'gain': p['x'] + 3}\n").stdout
    assert "3 trial evaluations: cost 1.5, gain 3; cost 1.5, gain " in shown


def test_check_blames_constraints_that_nothing_fulfils(tried):
    checked = tried(STUDY + '[constraints]\nfar = "x > 6"\n')
    said = "culmen: study.toml: 100000 candidates in a row violate the constraints ('far'); "
    assert (checked.returncode, checked.stderr[: len(said)]) == (2, said)


def test_the_schema_is_of_study_files(tmp_path):
    schema = json.loads(culmen("schema", cwd=tmp_path).stdout)
    assert {"space", "evaluator", "stop", "objectives"} <= set(schema["properties"])
