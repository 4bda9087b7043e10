"""`culmen errors`, and the errors at the end of a least-squares run, as users type and see them."""

import json
import shutil
import signal
import subprocess

import numpy as np
import pytest
from culmen.store.opening import Opened
from harness import (
    EXAMPLES,
    PYTHON,
    Running,
    calls_of,
    culmen,
    sequence,
    store_is_ready,
    summary,
    wait_for,
    write_fit,
    write_study,
)

from culmen import _core
from culmen.store import kept_errors

MODEL = """
import math, os, time
X = [0.5 * k for k in range(12)]
Y = [5 * math.exp(-0.6 * x) + 1 + 0.05 * math.cos(9 * x) for x in X]
def f(p):
    with open(os.path.join(os.path.dirname(__file__), "calls"), "a") as log:
        log.write("call\\n")
    PAUSE
    return [(p["a"] * math.exp(-p["k"] * x) + p["c"] - y) / 0.05 for x, y in zip(X, Y)]
"""
SPACE = """a = { lower = 0, upper = 20 }
k = { lower = 0.01, upper = 10, scale = "log" }
c = { lower = 0, upper = 5 }"""
EVALUATIONS = 6  # of the derivatives


def write_decay(folder, pause="pass"):
    write_fit(folder, MODEL.replace("PAUSE", pause), SPACE, 1500)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    write_decay(folder)
    done = culmen("run", "study.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder.rename(folder.with_name("moved")), done.stdout  # where the study began there is nothing: copies live


@pytest.fixture
def fit(fitted, tmp_path):
    """A copy of the folder of a finished fit."""
    shutil.copytree(fitted[0], tmp_path / "fit")
    return tmp_path / "fit"


def errors_of(folder, *options):
    done = culmen("errors", "study.db", "--json", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_least_squares_run_ends_with_its_errors(fitted):
    folder, out = fitted
    assert "± (Δχ² = 1)" in out
    assert "culmen made 6 more evaluations" in out
    assert "χ² = " in out
    assert "12 residuals, dof = 9" in out
    assert "S = √(χ²/dof)" in out
    ended = summary(folder / "study.db")
    assert ended["finished"] == "converged"
    assert len(calls_of(folder)) >= ended["told"] + EVALUATIONS


def test_they_are_those_of_the_jacobian(fit):
    found = errors_of(fit)
    best = {p["name"]: p["value"] for p in found["parameters"]}
    x = np.arange(12) * 0.5
    decay = np.exp(-best["k"] * x)
    jacobian = np.column_stack([decay, -best["a"] * x * decay, np.ones(12)]) / 0.05
    covariance = np.linalg.inv(jacobian.T @ jacobian)
    assert [p["error"] for p in found["parameters"]] == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-5)
    assert np.array(found["covariance"]) == pytest.approx(covariance, rel=1e-4)


def test_what_the_store_keeps_is_shown_again_without_an_evaluation(fit):
    calls = len(calls_of(fit))
    done = culmen("errors", "study.db", cwd=fit)
    assert (done.returncode, done.stderr) == (0, "")
    assert "± × S" in done.stdout
    assert "correlation" in done.stdout
    assert len(calls_of(fit)) == calls
    assert errors_of(fit, "--again", "--workers", 1) == errors_of(fit)
    assert len(calls_of(fit)) == calls + EVALUATIONS


def test_keeping_them_leaves_the_study_as_it_was(fit):
    before, told = summary(fit / "study.db"), sequence(fit / "study.db")
    errors_of(fit, "--again", "--profile")
    assert sorted(path.name for path in fit.glob("study.db*")) == ["study.db"]
    assert (summary(fit / "study.db"), sequence(fit / "study.db")) == (before, told)


def test_status_shows_what_was_found(fit):
    assert "culmen made 6 more evaluations" in culmen("status", "study.db", cwd=fit).stdout
    state = json.loads(culmen("status", "study.db", "--json", cwd=fit).stdout)
    assert state["errors"] == errors_of(fit)


def test_the_report_shows_them(fit):
    assert culmen("report", "study.db", cwd=fit).returncode == 0
    page = (fit / "study.html").read_text()
    assert "Errors of the parameters" in page
    assert "± (Δχ² = 1)" in page
    assert "Correlation of the fitted parameters" in page
    assert f"{errors_of(fit)['parameters'][0]['error']:.3g}" in page


def test_errors_of_another_candidate_are_not_taken_for_those_of_the_best(fit):
    path = str(fit / "study.db")
    kept = json.loads(_core.Store.read(path).note(kept_errors._NOTE))
    assert kept_errors.kept(Opened(path)) is not None
    _core.Store.keep_note(path, kept_errors._NOTE, json.dumps({**kept, "evaluation": kept["evaluation"] + 1}))
    assert kept_errors.kept(Opened(path)) is None


def test_profiles_are_kept_and_serve_for_the_errors_too(fit):
    calls = len(calls_of(fit))
    done = culmen("errors", "study.db", "--profile", cwd=fit)
    assert "profile, 0.683" in done.stdout
    with_profile = len(calls_of(fit))
    assert with_profile > calls + EVALUATIONS
    assert errors_of(fit)["parameters"][0]["interval"] is not None
    assert errors_of(fit, "--profile") == errors_of(fit)
    assert len(calls_of(fit)) == with_profile
    wide = errors_of(fit, "--profile", "--confidence", 0.95)
    assert (
        wide["parameters"][1]["interval"]["upper"]
        > wide["parameters"][1]["value"] + 1.9 * wide["parameters"][1]["error"]
    )


def test_a_better_candidate_makes_them_anew(fit):
    before = errors_of(fit)
    done = culmen("resume", "study.db", "--evaluations", 1600, "--agreement", 0, cwd=fit)
    assert done.returncode == 0, done.stderr
    number = summary(fit / "study.db")["best_evaluation"]
    assert errors_of(fit)["evaluation"] == number
    assert before["evaluation"] <= number


def test_no_errors_leaves_them_out(tmp_path):
    write_decay(tmp_path)
    done = culmen("run", "study.toml", "--no-errors", "--evaluations", 60, "--workers", 1, cwd=tmp_path)
    assert (done.returncode, "Errors" in done.stdout, "±" in done.stdout) == (0, False, False)
    assert len(calls_of(tmp_path)) == 60
    assert _core.Store.read(str(tmp_path / "study.db")).note("errors") == ""


def test_an_interrupted_run_has_none(tmp_path):
    write_decay(tmp_path, "time.sleep(100 if len(open(log.name).readlines()) > 20 else 0)")  # the signal may be late
    with Running("run", "study.toml", cwd=tmp_path) as run:
        wait_for(lambda: len(calls_of(tmp_path)) > 20, "20 calls")
        run.process.send_signal(signal.SIGINT)
        code, out, _ = run.end()
    assert (code, "rrors" in out) == (75, False)


def test_errors_can_be_stopped_and_leave_nothing_behind(fit):
    before = errors_of(fit)
    gate = "open(os.path.join(os.path.dirname(__file__), 'started'), 'a').close(); time.sleep(100)"
    write_decay(fit, gate)
    with Running("errors", "study.db", "--again", "--accept-changes", cwd=fit) as run:
        wait_for((fit / "started").exists, "the first evaluation")
        run.process.send_signal(signal.SIGINT)
        code, out, err = run.end()
        assert not run.processes()
    assert (code, out) == (75, "")
    assert err.splitlines()[-1] == "culmen: stopped before the errors were known; nothing was stored"
    assert err.startswith("culmen: note: model.py has changed since this study was started; earlier values are kept")
    assert errors_of(fit) == before


def test_a_killed_master_leaves_no_evaluation_behind(fit):
    gate = "open(os.path.join(os.path.dirname(__file__), 'started'), 'a').close(); time.sleep(100)"
    write_decay(fit, gate)
    with Running("errors", "study.db", "--again", "--accept-changes", cwd=fit) as run:
        wait_for((fit / "started").exists, "the first evaluation")
        run.process.send_signal(signal.SIGKILL)
        wait_for(lambda: not run.processes(), "the end of every child")


def test_a_value_has_errors_for_the_rise_that_is_given(tmp_path):
    write_study(tmp_path, 600)
    (tmp_path / "model.py").write_text("def f(p): return 2 * (p['x'] - 1) ** 2 + 8 * (p['y'] - p['x']) ** 2\n")
    done = culmen("run", "study.toml", cwd=tmp_path)
    assert "±" not in done.stdout
    found = errors_of(tmp_path)
    assert [p["error"] for p in found["parameters"]] == pytest.approx([0.5**0.5, 0.625**0.5], rel=1e-3)
    half = errors_of(tmp_path, "--up", 0.5)
    assert half["parameters"][0]["error"] == pytest.approx(0.5, rel=1e-3)
    shown = culmen("errors", "study.db", "--up", 0.5, cwd=tmp_path).stdout
    assert "the value rises by 0.5" in shown


def test_a_command_has_errors_too(tmp_path):
    shutil.copytree(
        EXAMPLES / "02_external_program", tmp_path / "misra", ignore=shutil.ignore_patterns("*.db*", "*.work")
    )
    done = culmen("run", "misra.toml", "--store", "m.db", cwd=tmp_path / "misra")
    assert done.returncode == 0, done.stderr
    errors = culmen("errors", "m.db", cwd=tmp_path / "misra")
    assert errors.returncode == 0, errors.stderr
    assert "the value rises by 1" in errors.stdout
    assert not list((tmp_path / "misra" / "m.work").glob("further*"))


WRONG = {
    "a study file": (
        ["study.toml"],
        "study.toml is a study file, not a store; its store is study.db: `culmen errors study.db`",
    ),
    "no such store": (["nix.db"], "there is no store nix.db"),
    "a misspelt store": (["studi.db"], "there is no store studi.db; did you mean 'study.db'?"),
    "confidence alone": (
        ["study.db", "--confidence", 0.9],
        "confidence applies to profile intervals; ask for the profile too, or remove confidence",
    ),
    "a wrong confidence": (
        ["study.db", "--profile", "--confidence", 95],
        "confidence must be between 0 and 1, such as 0.683, got 95.0",
    ),
    "up of residuals": (["study.db", "--up", 0.5], "up applies to values, not to residuals"),
    "no file of the evaluator": (
        ["study.db", "--again"],
        'study.db: [evaluator] python = "model.py": there is no file',
    ),
    "a changed function": (["study.db", "--again"], "model.py has changed since this study was started"),
    "no function": (["study.db", "--again", "--accept-changes"], "has no function 'f'"),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_use_is_one_sentence(fit, mistake):
    words, sentence = WRONG[mistake]
    if mistake == "no file of the evaluator":
        (fit / "model.py").unlink()
    if mistake in ("no function", "a changed function"):
        (fit / "model.py").write_text("def g(p): return [0]\n")
    done = culmen("errors", *words, cwd=fit)
    assert done.returncode == 2, done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_store_that_never_succeeded_has_no_errors(tmp_path):
    write_decay(tmp_path, "raise ValueError('no')")
    culmen("run", "study.toml", "--evaluations", 4, cwd=tmp_path)
    done = culmen("errors", "study.db", cwd=tmp_path)
    assert done.returncode == 2
    assert (
        done.stderr
        == "culmen: study.db has no best candidate whose errors could be computed: its 4 evaluations all failed\n"
    )


def test_a_store_in_use_is_left_alone(tmp_path):
    write_decay(tmp_path, "time.sleep(100 if len(open(log.name).readlines()) > 5 else 0)")
    with Running("run", "study.toml", cwd=tmp_path) as run:
        wait_for(lambda: store_is_ready(tmp_path / "study.db") and len(calls_of(tmp_path)) > 5, "5 calls")
        done = culmen("errors", "study.db", cwd=tmp_path)
        run.process.send_signal(signal.SIGINT)
        run.end()
    assert done.returncode == 2
    assert "study.db is in use" in done.stderr
    assert "its errors can be computed when the run has ended" in done.stderr


def test_several_objectives_have_no_errors(tmp_path):
    write_study(tmp_path, 10, top="")
    (tmp_path / "model.py").write_text("def f(p): return {'u': p['x'], 'v': p['y']}\n")
    objectives = '[objectives]\nu = "minimize"\nv = "minimize"\n[optimizer]\nname = "random"\n'
    (tmp_path / "study.toml").write_text((tmp_path / "study.toml").read_text() + objectives)
    assert culmen("run", "study.toml", cwd=tmp_path).returncode == 0
    done = culmen("errors", "study.db", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "culmen: study.db has 2 objectives; errors exist only for one value or for residuals\n",
    )


def test_a_store_of_minimize_says_where_its_errors_are(tmp_path):
    call = "culmen.minimize(lambda p: [p['x']], {'x': (-1, 1)}, budget=20, result='residuals', store='s.db')"
    program = f"import culmen; {call}"
    assert subprocess.run([PYTHON, "-c", program], cwd=tmp_path).returncode == 0
    done = culmen("errors", "s.db", cwd=tmp_path)
    assert done.returncode == 2
    assert "was made by culmen.minimize" in done.stderr
    assert ".errors" in done.stderr


def test_errors_that_a_program_has_stored_are_shown_without_its_function(tmp_path):
    call = "culmen.minimize(lambda p: [p['x'], 1], {'x': (-1, 1)}, budget=20, result='residuals', store='s.db')"
    program = f"import culmen; print({call}.find_errors())"
    assert subprocess.run([PYTHON, "-c", program], cwd=tmp_path).returncode == 0
    done = culmen("errors", "s.db", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Errors for Δχ² = 1" in done.stdout
    program = "import culmen; print(culmen.errors('s.db')['x'].error)"
    done = subprocess.run([PYTHON, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert float(done.stdout) == pytest.approx(1), done.stderr
    assert "was made by culmen.minimize" in culmen("errors", "s.db", "--again", cwd=tmp_path).stderr


def test_the_program_gets_them_from_the_store(fit):
    program = (
        "import culmen\n"
        "errors = culmen.errors('study.db', profile=True)\n"
        "assert errors['k'].interval.lower < errors['k'].value < errors['k'].interval.upper\n"
        "assert culmen.Study.from_store('study.db').errors().parameters == errors.parameters\n"
        "print(errors)\n"
    )
    done = subprocess.run([PYTHON, "-c", program], cwd=fit, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "profile, 0.683" in done.stdout


def test_with_every_parameter_at_a_bound_nothing_else_is_advised(tmp_path):
    write_fit(tmp_path, 'def f(p):\n    return [p["a"] + 1]\n', "a = { lower = 0, upper = 5, initial = 1 }", 50)
    done = culmen("run", "study.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "No errors: every parameter is at a bound.\n" in done.stdout
    assert "(1 residual)" in done.stdout
