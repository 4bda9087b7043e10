"""Any candidates by a study's own evaluator: in parallel, failures as values, a clean end."""

import signal
import subprocess
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from culmen.store.kept_errors import keep
from harness import HANGS_S, PYTHON, calls_of, copy_example, environment, hold, wait_for, write_fit, write_study

import culmen
from culmen import InputError, Study

MODEL = """
import os
def f(p):
    if p["x"] < 0: raise ValueError("x is negative")
    if p["x"] > 9: os._exit(3)
    return [p["x"], p["y"] - 1], {"twice": 2 * p["x"]}
"""
SPACE = "x = { lower = -10, upper = 10 }\ny = { lower = -10, upper = 10 }"


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_fit(tmp_path, MODEL, SPACE, 5, 'on_failure = "stop"')
    return Study.from_file("study.toml")


def test_outcomes_come_in_the_order_of_the_candidates_and_whole(study):
    with study.evaluations(workers=2) as evaluate:
        outcomes = evaluate([{"x": x, "y": 2.0} for x in range(8)])
        further = evaluate([[3.0, 1.0]])
    assert [o.residuals for o in outcomes] == [[x, 1.0] for x in range(8)]
    assert [o.value for o in outcomes] == [x * x + 1 for x in range(8)]
    assert all(o.ok and o.extras == {"twice": 2 * o.residuals[0]} and o.duration_s > 0 for o in outcomes)
    assert further[0].value == 9
    assert evaluate.count == 9
    assert not Path(study.options.store).exists()


def test_a_candidate_may_be_any_mapping(study):
    with study.evaluations() as evaluate:
        (outcome,) = evaluate([MappingProxyType({"x": 2.0, "y": 1.0})])
    assert outcome.value == 4


def test_failures_are_values_and_no_rule_of_the_study_ends_them(study):
    with study.evaluations() as evaluate:
        outcomes = evaluate([[-1, 0], [1, 0], [9.5, 0], [2, 0], [-2, 0], [3, 0], [4, 0]])
    assert [o.status for o in outcomes] == ["failed", "ok", "crashed", "ok", "failed", "ok", "ok"]
    assert outcomes[0].value is None
    assert "x is negative" in outcomes[0].message


def test_an_empty_list_has_no_outcomes(study):
    with study.evaluations(workers=1) as evaluate:
        assert evaluate([]) == []


@pytest.mark.parametrize(
    ("candidate", "sentence"),
    [
        ([1.0], "a vector has 1 numbers, but the space has 2 parameters"),
        ({"x": 1.0}, "candidate 0: parameter 'y' is missing"),
        (
            {"x": 11, "y": 1},
            r"candidate 0: parameter 'x': 11 is outside its bounds \[-10, 10\]; widen them, or "
            "give a list of numbers in the space's order, which may lie outside",
        ),
        ("xy", "candidate 0: it must be a dict of the parameters or a list of numbers, got 'xy'"),
        ([1.0, "2"], r"candidate 0: it must be a dict of the parameters or a list of numbers, got \[1.0, '2'\]"),
        ([1.0, None], r"candidate 0: it must be a dict of the parameters or a list of numbers, got \[1.0, None\]"),
        (3.0, "candidate 0: it must be a dict of the parameters or a list of numbers, got 3.0"),
        ([1.0, float("nan")], "candidate 0: parameter 'y': it must be a finite number, got nan"),
        ([float("-inf"), 1.0], "candidate 0: parameter 'x': it must be a finite number, got -inf"),
    ],
)
def test_a_candidate_of_another_space_is_refused(study, candidate, sentence):
    with study.evaluations(workers=1) as evaluate:
        with pytest.raises(InputError, match=sentence):
            evaluate([candidate])
        assert evaluate([[1.0, 1.0]])[0].value == 1


def test_a_list_has_values_that_exist_and_nan_only_where_it_says_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text("def f(p): return sum(map(float, p.values()))\n")
    (tmp_path / "study.toml").write_text(MIXED)
    with Study.from_file("study.toml").evaluations(workers=1) as evaluate:
        for index in (7, -1, 0.5, float("nan")):
            with pytest.raises(InputError, match=f"candidate 0: parameter 'k': .*number.*, got {index}") as raised:
                evaluate([[0.5, index, 0, 0.1]])
            assert "\n" not in str(raised.value)
        with pytest.raises(InputError, match=r"parameter 'b': .* it must be a whole number from 0 to 1, .*, got 2"):
            evaluate([[0.5, 1, 2, 0.1]])
        found = evaluate([[np.float32(0.5), 1, True, float("nan")], np.array([2.0, 0, 0, 3.0])])
        assert [outcome.value for outcome in found] == [5.5, 8.0]


MIXED = """
[space]
x = { lower = 0, upper = 1 }
k = { type = "ordinal", choices = [3, 4] }
b = { type = "boolean" }
o = { lower = 0, upper = 1, active_when = "k == 3" }
[evaluator]
python = "model.py:f"
[stop]
evaluations = 10
"""


def test_an_evaluator_that_cannot_be_set_up_is_bad_input(study, tmp_path):
    (tmp_path / "model.py").write_text("def g(p): return [0]\n")
    with pytest.raises(InputError, match="has no function 'f'"), study.evaluations(workers=1) as evaluate:
        evaluate([[1.0, 1.0]])


@pytest.mark.parametrize("workers", [0, True, 1.5])
def test_workers_are_counted(study, workers):
    with pytest.raises(InputError, match="workers must be a whole number, at least 1, or None, got"):
        study.evaluations(workers=workers)


def test_worker_processes_evaluate_too(study):
    study.options.place = "processes"
    with study.evaluations(workers=2) as evaluate:
        assert [o.value for o in evaluate([[1, 1], [2, 1], [3, 1]])] == [1, 4, 9]


def test_a_command_evaluates_and_leaves_no_folder(tmp_path, monkeypatch):
    copy_example("02_external_program", tmp_path)
    monkeypatch.chdir(tmp_path)
    study = Study.from_file("misra.toml")
    with study.evaluations(workers=2) as evaluate:
        outcome = evaluate([{"b1": 238.94212918, "b2": 5.5015643181e-4}])[0]
    assert outcome.value == pytest.approx(0.12455138894, rel=1e-6)
    assert not list(tmp_path.glob("*.work/*"))


def test_two_evaluators_of_one_study_leave_each_other_alone(tmp_path, monkeypatch):
    copy_example("02_external_program", tmp_path)
    monkeypatch.chdir(tmp_path)
    study, candidate = Study.from_file("misra.toml"), {"b1": 238.94212918, "b2": 5.5015643181e-4}
    with study.evaluations(workers=1) as one:
        with study.evaluations(workers=1) as other:
            assert [evaluate([candidate])[0].status for evaluate in (one, other, one)] == ["ok"] * 3
        assert one([candidate])[0].status == "ok"
    assert not list(tmp_path.glob("*.work/*"))


PROGRAM = """
import culmen
study = culmen.Study.from_file("study.toml")
try:
    with study.evaluations(workers=2) as evaluate:
        evaluate([[0.1, k / 1000] for k in range(1000)])
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_evaluations_and_children(tmp_path):
    write_study(tmp_path)
    hold(tmp_path, 50)
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [PYTHON, "program.py"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(CULMEN_TEST=str(tmp_path)), stdout=subprocess.PIPE, text=True
    ) as run:
        wait_for(lambda: len(calls_of(tmp_path)) > 4, "some calls")
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=HANGS_S)
    assert (out, run.returncode) == ("interrupted\n", 0)
    wait_for(lambda: not _left(tmp_path), "the end of every child")


def _left(folder):
    done = subprocess.run(["pgrep", "-f", f"{folder}.*culmen.slot"], capture_output=True, text=True)
    return done.stdout


def test_a_result_finds_its_errors_when_asked():
    calls = culmen.minimize(
        lambda p: [p["a"] - 1, 2 * (p["b"] - 2)],
        {"a": (-5, 5), "b": (-5, 5)},
        budget=800,
        result="residuals",
        workers=2,
    )
    errors = calls.errors
    assert errors["b"].error == pytest.approx(0.5, rel=1e-6)
    assert errors.evaluations == 4
    assert calls.errors is errors
    assert calls.find_errors(profile=True)["a"].interval.upper == pytest.approx(calls.best["a"] + 1, abs=1e-3)


def test_a_copied_result_keeps_the_errors_it_has_and_finds_no_others():
    import pickle

    result = culmen.minimize(lambda p: [p["a"] - 1], {"a": (-5, 5)}, budget=300, result="residuals", workers=1)
    bare = pickle.loads(pickle.dumps(result))
    assert bare == result
    with pytest.raises(InputError, match="this result has no errors"):
        _ = bare.errors
    _ = result.errors
    assert pickle.loads(pickle.dumps(result)).errors == result.errors


def test_a_value_has_errors_on_the_scale_that_is_given():
    result = culmen.minimize(lambda p: 8 * (p["a"] - 1) ** 2, {"a": (-5, 5)}, budget=300, workers=1)
    assert result.errors["a"].error == pytest.approx(8**-0.5, rel=1e-3)
    assert result.find_errors(up=0.5)["a"].error == pytest.approx(16**-0.5, rel=1e-3)


def test_a_maximized_value_has_errors_too():
    result = culmen.minimize(
        lambda p: {"height": -((p["a"] - 1) ** 2)},
        {"a": (-5, 5)},
        objectives={"height": "maximize"},
        budget=300,
        workers=1,
    )
    assert result.errors["a"].error == pytest.approx(1, rel=1e-3)


def test_several_objectives_have_no_errors():
    result = culmen.minimize(
        lambda p: {"u": p["a"], "v": -p["a"]},
        {"a": (-5, 5)},
        objectives={"u": "minimize", "v": "minimize"},
        optimizer="random",
        budget=10,
        workers=1,
    )
    with pytest.raises(
        InputError, match="the study has 2 objectives; errors exist only for one value or for residuals"
    ):
        _ = result.errors


def test_where_all_failed_there_are_no_errors():
    with pytest.raises(culmen.AllFailedError) as raised:
        culmen.minimize(lambda p: [1 / 0], {"a": (0, 1)}, budget=3, result="residuals", workers=1)
    with pytest.raises(InputError, match="no evaluation succeeded"):
        _ = raised.value.result.errors


def test_errors_that_cannot_be_kept_are_told_so(tmp_path):
    result = culmen.minimize(lambda p: [p["a"] - 1], {"a": (-5, 5)}, budget=100, result="residuals", workers=1)
    assert keep(tmp_path / "gone.db", result.errors).startswith("the errors could not be stored: ")


def test_the_programs_own_executor_evaluates_for_the_errors_too():
    from concurrent.futures import ThreadPoolExecutor

    calls = []

    def residuals(p):
        calls.append(p)
        return [p["a"] - 1, 2 * (p["b"] - 2)]

    with ThreadPoolExecutor(2) as executor:
        space = {"a": (-5, 5), "b": (-5, 5)}
        result = culmen.minimize(residuals, space, budget=400, result="residuals", executor=executor)
        before = len(calls)
        assert result.errors["b"].error == pytest.approx(0.5, rel=1e-6)
    assert len(calls) == before + 4
    with pytest.raises(culmen.CulmenError, match="the executor accepts no more calls"):
        result.find_errors()
