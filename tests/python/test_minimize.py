"""culmen.minimize, as programs and notebooks call it."""

import copy
import inspect
import json
import math
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from culmen.study_file import call_of
from culmen.study_file.evaluator import EvaluatorOptions
from culmen.study_file.file import RunTable, StopTable, StudyFile
from harness import HANGS_S

import culmen
from culmen import CulmenError, InputError, _core


def sphere(p):
    return sum(value**2 for value in p.values())


def test_a_lambda_over_named_bounds():
    centre = 3
    result = culmen.minimize(lambda p: (p["x"] - centre) ** 2, {"x": (-5, 5)}, budget=400, workers=2)
    assert result.best["x"] == pytest.approx(3, abs=1e-4)
    assert result.x == [result.best["x"]]
    assert result.value == (result.best["x"] - 3) ** 2
    assert (result.reason, result.final, result.evaluations, result.failed) == ("evaluations", True, 400, 0)
    assert repr(result).startswith("Result(value=")
    assert "x=3" in repr(result)


def test_a_sequence_of_bounds_gives_a_list():
    result = culmen.minimize(lambda x: x[0] ** 2 + (x[1] - 1) ** 2, [(-5, 5), (-5, 5)], budget=600, workers=2)
    assert list(result.best) == ["x0", "x1"]
    assert result.x == pytest.approx([0, 1], abs=1e-2)


def test_integers_arrive_as_integers_and_logs_in_their_bounds():
    space = {"n": culmen.integer(1, 9), "tau": culmen.real(1e-6, 1, scale="log")}

    def f(p):
        assert isinstance(p["n"], int)
        return (p["n"] - 4) ** 2 + (math.log10(p["tau"]) + 3) ** 2

    result = culmen.minimize(f, space, budget=600, workers=2)
    assert result.failed == 0
    assert result.best["n"] == 4
    assert result.best["tau"] == pytest.approx(1e-3, rel=1e-2)


def test_residuals_and_extra_figures():
    result = culmen.minimize(
        lambda p: ([p["x"] - 1, 2.0], {"speed": p["x"] * 10}),
        {"x": (0, 0.5)},
        budget=300,
        result="residuals",
        workers=2,
    )
    assert result.residuals == pytest.approx([-0.5, 2], abs=1e-3)
    assert result.value == pytest.approx(4.25, abs=1e-3)
    assert result.extras["speed"] == pytest.approx(5, abs=1e-2)
    assert result.at_bounds == {"x": "upper"}


def test_the_number_of_workers_does_not_change_the_result():
    same = {"generational": True}
    box = {"x": (-5, 4), "y": (-1, 2)}
    one, four = (culmen.minimize(sphere, box, budget=200, workers=n, options=same) for n in (1, 4))
    assert (one.x, one.value, one.evaluation) == (four.x, four.value, four.evaluation)


def test_a_target_ends_it():
    result = culmen.minimize(sphere, {"x": (-5, 5)}, target=1e-3, workers=2)
    assert result.reason == "target"
    assert result.value <= 1e-3


def test_failures_are_values():
    def f(p):
        if p["x"] < 0:
            raise ValueError("negative")
        return p["x"]

    result = culmen.minimize(f, {"x": (-1, 1)}, budget=100, workers=2)
    assert 0 < result.failed < 100
    assert result.value >= 0


def test_when_all_fail_there_is_no_best():
    said = "all 10 evaluations failed; the first: evaluation 0 not finite: "
    with pytest.raises(culmen.AllFailedError, match=said) as raised:
        culmen.minimize(lambda p: float("nan"), {"x": (0, 1)}, budget=10, workers=2)
    result = raised.value.result
    assert isinstance(raised.value, RuntimeError)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    assert (result.best, result.x, result.value, result.evaluation) == (None, None, None, None)
    assert result.failed == 10
    assert "value=none" in repr(result)
    assert "; 10 failed, the first: evaluation 0 not finite: " in repr(result)


def test_it_gives_up_where_nothing_but_failures_comes():
    def f(p):
        raise ValueError("no grid")

    with pytest.raises(culmen.AllFailedError, match="the first: evaluation 0 failed: ValueError: no grid") as raised:
        options = {"generational": True}  # the first to fail is candidate 0
        culmen.minimize(f, {"x": (0, 1)}, budget=500, give_up_after=20, workers=2, options=options)
    result = raised.value.result
    assert (result.reason, result.final, result.evaluations) == ("all_failed", False, 20)
    with pytest.raises(culmen.AllFailedError, match="all 60 evaluations failed"):
        culmen.minimize(f, {"x": (0, 1)}, budget=60, give_up_after=0, workers=2)


@pytest.mark.parametrize("shape", [(), (1,)])
def test_an_array_of_one_number_is_a_value(shape):
    result = culmen.minimize(lambda p: np.full(shape, p["x"]), {"x": (0, 1)}, budget=20, workers=1)
    assert result.failed == 0
    objectives = {"a": "minimize", "b": "minimize"}
    both = culmen.minimize(
        lambda p: ({"a": np.full(shape, p["x"]), "b": -p["x"]}, {"extra": np.full(shape, 2.0)}),
        {"x": (0, 1)},
        budget=20,
        workers=1,
        objectives=objectives,
    )
    assert (both.failed, both.extras["extra"]) == (0, 2.0)


def test_a_failure_among_successes_is_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = culmen.minimize(lambda p: 1 / (p["x"] > 0), {"x": (-1, 1)}, budget=40, workers=2)
    assert result.first_failure.splitlines()[0].endswith(" failed: ZeroDivisionError: division by zero")
    assert repr(result).endswith(" failed: ZeroDivisionError: division by zero)")


def test_a_store_goes_on_where_it_was(tmp_path):
    store = tmp_path / "fit.db"
    first = culmen.minimize(sphere, {"x": (-5, 5)}, budget=50, store=store, workers=2)
    second = culmen.minimize(sphere, {"x": (-5, 5)}, budget=100, store=store, workers=2)
    whole = culmen.minimize(sphere, {"x": (-5, 5)}, budget=100, workers=2)
    assert (first.evaluations, second.evaluations) == (50, 100)
    assert (second.x, second.value) == (whole.x, whole.value)
    with pytest.raises(InputError, match="another study"):
        culmen.minimize(sphere, {"x": (-5, 4)}, budget=100, store=store)
    with pytest.raises(InputError, match=r"made by culmen\.minimize with"):
        culmen.Study.from_store(store)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "culmen.minimize: at least one of budget, target, stagnation and wall_time_s must be given"),
        ({"budget": 0}, "culmen.minimize: budget must be at least 1, got 0"),
        ({"budget": "many"}, 'culmen.minimize: budget must be a whole number, got "many"'),
        ({"budget": 1, "workers": 0}, "culmen.minimize: workers must be at least 1, got 0"),
        ({"budget": 1, "result": "values"}, 'culmen.minimize: result must be "value" or "residuals", got "values"'),
        (
            {"budget": 1, "on_failure": "stp"},
            'culmen.minimize: on_failure must be "penalise", "retry" or "stop", got "stp"',
        ),
        ({"budget": 1, "optimizer": "cmase"}, "culmen.minimize: there is no optimizer 'cmase'"),
        (
            {"budget": 1, "optimizer": "TPE"},
            "culmen.minimize: there is no optimizer 'TPE' (here, this method is 'bayes')",
        ),
        (
            {"budget": 1, "popsize": 9},
            """culmen.minimize: there is no argument 'popsize'; write options={"population": …}""",
        ),
        (
            {"budget": 1, "direction": "maximize"},
            """culmen.minimize: there is no argument 'direction'; write objectives={"value": "maximize"}""",
        ),
        ({"budget": 1, "give_up_after": -1}, "culmen.minimize: give_up_after must be at least 0, got -1"),
        ({"budget": 1, "time_limit_s": -1}, "culmen.minimize: time_limit_s must be above 0, got -1"),
    ],
)
def test_wrong_arguments_are_one_sentence(arguments, message):
    with pytest.raises(InputError) as error:
        culmen.minimize(sphere, {"x": (0, 1)}, **arguments)
    assert str(error.value).startswith(message)


def test_a_traceback_names_the_lines_of_the_users_file():
    with pytest.raises(CulmenError, match=rf'(?s)File "{__file__}", line \d+, in wrong'):

        def wrong(p):
            return 1 / p["x"] / 0

        culmen.minimize(wrong, {"x": (1, 2)}, budget=1)


def test_what_cannot_travel_is_said():
    with pytest.raises(InputError, match="f must be a function, got 3"):
        culmen.minimize(3, {"x": (0, 1)}, budget=1)
    lock = threading.Lock()
    with pytest.raises(InputError, match="cannot be sent to other processes"):
        culmen.minimize(lambda p: lock.locked(), {"x": (0, 1)}, budget=1)


def test_a_function_that_cannot_be_had_elsewhere_is_an_error():
    class Broken:
        def __call__(self, p):
            return 0

        def __reduce__(self):
            return int, ("no number",)

    with pytest.raises(CulmenError, match="cannot unpickle the function: ValueError: invalid literal"):
        culmen.minimize(Broken(), {"x": (0, 1)}, budget=1)


def test_whole_numbers_may_be_floats():
    assert culmen.minimize(sphere, {"x": (0, 1)}, budget=1e1, seed=2.0, workers=2.0).evaluations == 10


@pytest.mark.parametrize("starts", [[[1.0, 2.0]], np.array([[1, 2]]), [{"x0": 1, "x1": 2}]])
def test_starts_may_be_lists_in_the_spaces_order(starts):
    result = culmen.minimize(lambda x: abs(x[0] - 1) + abs(x[1] - 2), [(-5, 5)] * 2, budget=5, starts=starts, workers=1)
    assert (result.x, result.value, result.evaluation) == ([1, 2], 0, 0)


def test_what_other_tools_call_a_figure_of_the_result_is_said():
    result = culmen.minimize(sphere, {"x": (-5, 5)}, budget=5, workers=1)
    with pytest.raises(AttributeError, match="a Result has no 'fun'; here it is called 'value'"):
        print(result.fun)
    assert not hasattr(result, "zzz")
    assert pickle.loads(pickle.dumps(result)) == copy.deepcopy(result) == result


def test_what_a_study_file_says_is_an_argument_too():
    said = {**EvaluatorOptions.model_fields, **StopTable.model_fields, **RunTable.model_fields}
    top = StudyFile.model_fields.keys() - {"name", "evaluator", "stop", "run"}
    arguments = inspect.signature(culmen.minimize).parameters
    assert ({*said, *top} - {"evaluations"} | {"budget"}) <= arguments.keys()


RESIDUALS = """
import culmen

def f(p):
    return [(p["x"][i] - 1, p["n"][i] * 0.5) for i in range(len(p["x"]))]

"""
CALL = """
culmen.minimize(
    f,
    {"x": (-5, 5), "n": culmen.integer(1, 9, initial=3), "t": culmen.real(1e-6, 1, scale="log")},
    budget=60,
    result="residuals",
    batch=8,
    seed=4,
    optimizer="evolution",
    options={"children": 20},
    constraints={"line": "x + n <= 9"},
    starts=[{"x": 1, "n": 2, "t": 0.5}],
    store="one.db",
    workers=2,
)
"""


def test_the_call_that_a_store_keeps_gives_the_same_again(tmp_path):
    subprocess.run([sys.executable, "-c", RESIDUALS + CALL], cwd=tmp_path, check=True)
    one = _core.Store.read(str(tmp_path / "one.db"))
    text = call_of(json.loads(one.configuration), "two.db")
    assert text.startswith("culmen.minimize(f, {'x': (-5, 5), 'n': culmen.integer(")
    subprocess.run([sys.executable, "-c", RESIDUALS + text], cwd=tmp_path, check=True)
    two = _core.Store.read(str(tmp_path / "two.db"))
    assert one.fingerprint == two.fingerprint
    assert [one.summary()[key] for key in ("told", "best")] == [two.summary()[key] for key in ("told", "best")]


INTERRUPTED = """
import culmen, sys, time

def f(p):
    time.sleep(0.01)
    if not sys.argv[1:]:
        with open('calls', 'a') as file:
            file.write('.')
    return p['x']

try:
    found = culmen.minimize(f, {'x': (0, 1)}, budget=10**6, workers=2, **{STORE})
    print(found.reason, found.final, found.best['x'] == found.value)
    time.sleep(100)
except KeyboardInterrupt:
    print('raised')
    sys.exit(7)
"""


def interrupt(tmp_path, script, ready, times=1, number=signal.SIGINT):
    """The script's exit code, output and errors after a Ctrl-C (or ``number``). ``times``: 2 for a second Ctrl-C after
    the first line of output."""
    (tmp_path / "script.py").write_text(script)
    words = [sys.executable, "-u", "script.py"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + HANGS_S
    while not ready():
        assert time.monotonic() < end, "the evaluations did not begin"
        time.sleep(0.01)
    process.send_signal(number)
    deadline = threading.Timer(HANGS_S, process.kill)
    deadline.start()
    first = process.stdout.readline() if times > 1 else ""
    if times > 1:
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=HANGS_S)
    deadline.cancel()
    return process.returncode, first + out, err


@pytest.mark.parametrize("store", ["", "fit.db"])
def test_ctrl_c_returns_the_best_so_far_and_a_second_one_is_the_programs(tmp_path, store):
    calls = tmp_path / "calls"
    script = INTERRUPTED.replace("{STORE}", f"{{'store': {store!r}}}" if store else "{}")
    code, out, err = interrupt(tmp_path, script, lambda: calls.exists() and calls.stat().st_size > 20, times=2)
    assert (code, out) == (7, "interrupted False True\nraised\n")
    again = "to resume: make the same call in Python, culmen.minimize(__main__.f, …, store='fit.db')"
    how = again if store else 'with store="fit.db" the same call could resume'
    assert re.fullmatch(
        rf"culmen: interrupted after \d+ evaluations; the best so far is \S+ at x=\S+; {re.escape(how)}\n", err
    )


def test_ctrl_c_before_anything_has_succeeded_raises(tmp_path):
    script = INTERRUPTED.replace("{STORE}", "{}").replace("    return p['x']", "    time.sleep(1000)")
    code, out, err = interrupt(tmp_path, script, (tmp_path / "calls").exists)
    assert (code, out) == (7, "raised\n")
    assert err.startswith("culmen: interrupted after 0 evaluations; no evaluation has succeeded yet; ")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
def test_what_ends_the_program_ends_the_evaluations_cleanly_and_leaves_no_folder(tmp_path, monkeypatch, number):
    calls, temporary = tmp_path / "calls", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    script = f"""
import culmen

program = culmen.Command(["sh", "-c", "echo >> {calls}; echo {{x}}"])
culmen.minimize(program, {{"x": (0, 1)}}, budget=10**6, workers=2)
"""
    code, _, err = interrupt(
        tmp_path, script, lambda: calls.exists() and calls.stat().st_size > 20 and any(temporary.iterdir()), 1, number
    )
    assert code == -number
    assert err.startswith("culmen: interrupted after ")
    assert list(temporary.iterdir()) == []


def test_a_resumed_study_stagnates_where_the_whole_one_does(tmp_path):
    def f(p):
        time.sleep(0.005)  # the callback stops the study before the next evaluations end
        return sphere(p)

    space = {"x": (-1, 1.5), "y": (-1.2, 1)}
    options = {"optimizer": "random", "workers": 1, "stagnation": 40, "budget": 500, "prefetch": False}
    whole = culmen.minimize(f, space, **options)
    half = whole.evaluations // 2
    store = tmp_path / "half.db"
    stopped = culmen.minimize(f, space, store=store, callback=lambda seen: seen.evaluation >= half, **options)
    assert (stopped.reason, whole.reason) == ("callback", "stagnation")
    assert culmen.minimize(f, space, store=store, **options).evaluations == whole.evaluations
