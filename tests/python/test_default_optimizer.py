"""Optimizers from Python: what is chosen, options, residuals and several objectives by ask and tell."""

import math
import time

import pytest
from fits import DECAY, decay

import culmen
from culmen import InputError


def test_residuals_of_real_parameters_are_fitted_by_lm():
    result = culmen.minimize(decay, DECAY, budget=1000, result="residuals", workers=2)
    assert (result.optimizer, result.optimizer_why) == (
        "lm",
        "residuals, only real parameters, no constraints, no limits",
    )
    assert "local searches ended at the best value" in result.remark
    assert result.best == pytest.approx({"a": 2.5, "b": 1.3}, rel=1e-12)


def test_choices_are_for_a_model_and_searches_beside_it():
    space = {"x": (-5, 5), "c": culmen.categorical(["s", "t", "u"])}
    result = culmen.minimize(lambda p: (p["x"] - 1) ** 2 + (p["c"] != "u"), space, budget=400, workers=2)
    assert (result.optimizer, result.optimizer_why) == (
        "auto",
        "one objective, other parameters",
    )
    assert result.best["c"] == "u"
    assert result.value < 1e-4


def test_an_optimizer_that_is_named_is_not_explained():
    result = culmen.minimize(lambda p: p["x"] ** 2, {"x": (-5, 5)}, budget=20, optimizer="random", workers=2)
    assert (result.optimizer, result.optimizer_why, result.remark) == ("random", "", "")


def test_a_grid_ends_by_itself():
    options = {"points": 11, "order": "rows"}
    result = culmen.minimize(
        lambda p: abs(p["x"] - 1), {"x": (-5, 5)}, budget=300, optimizer="grid", options=options, workers=2
    )
    assert (result.reason, result.evaluations, result.best) == ("exhausted", 11, {"x": 1.0})


@pytest.mark.parametrize(
    ("optimizer", "options", "message"),
    [
        ("lm", {}, "optimizer 'lm' needs residuals: return them from the evaluator"),
        ("grid", {"order": "roes"}, "option 'order' is \"roes\", it must be one of"),
        ("grid", {"points": True}, "option 'points' is true, it must be a whole number"),
        ("grid", {"points": [1]}, r"option 'points' must be a number, a string, true or false, got \[1\]"),
    ],
)
def test_what_an_optimizer_cannot_do_is_said_before_anything_starts(optimizer, options, message):
    with pytest.raises(InputError, match=message):
        culmen.minimize(lambda p: 1.0, {"x": (-5, 5)}, budget=30, optimizer=optimizer, options=options)


def test_lm_by_ask_and_tell():
    optimizer = culmen.Optimizer(DECAY, result="residuals")
    assert optimizer.name == "lm"
    least = math.inf
    for _ in range(200):
        for candidate in optimizer.ask(8):
            residuals = decay(candidate.params)
            least = min(least, sum(r * r for r in residuals))
            optimizer.tell(candidate, residuals)
    assert least < 1e-20


def test_several_objectives_by_ask_and_tell():
    optimizer = culmen.Optimizer({"x": (-1, 3)}, objectives=2)
    assert optimizer.name == "mocma"
    seen = []
    while len(seen) < 3000:
        for candidate in optimizer.ask(100):
            x = candidate.params["x"]
            seen.append(x)
            optimizer.tell(candidate, [x**2, (x - 2) ** 2])
    assert sum(-1e-3 <= x <= 2 + 1e-3 for x in seen[-500:]) > 250


def test_residuals_with_limits_are_not_for_lm_which_cannot_follow_a_limit():
    result = culmen.minimize(
        lambda p: ([p["x"] - 2, p["y"]], {"s": p["x"]}),
        {"x": (-5, 5), "y": (-5, 5)},
        limits={"s": {"upper": 1}},
        budget=600,
        result="residuals",
        workers=2,
    )
    assert result.optimizer == "auto"
    assert result.value == pytest.approx(1, abs=1e-3)


def test_one_of_several_objectives_may_have_a_limit():
    result = culmen.minimize(
        lambda p: {"a": p["x"] ** 2, "b": (p["x"] - 1) ** 2},
        {"x": (-5, 5)},
        objectives={"a": "minimize", "b": "minimize"},
        limits={"a": {"upper": 0.25}},
        budget=600,
        workers=2,
    )
    assert result.optimizer == "mocma"
    assert max(trade.values["a"] for trade in result.front) <= 0.25


def test_a_population_that_the_budget_makes_small_may_be_given_few_children():
    result = culmen.minimize(
        lambda p: {"a": p["x"] ** 2, "b": (p["x"] - 1) ** 2},
        {"x": (-5, 5)},
        objectives={"a": "minimize", "b": "minimize"},
        budget=1000,
        optimizer="evolution",
        options={"selection": "comma", "children": 50},
        workers=2,
    )
    assert result.evaluations == 1000


def test_lm_leaves_an_initial_value_of_zero():
    times = [k / 19 for k in range(20)]

    def f(p):
        model = [p["c"] + p["a"] * math.exp(-p["k"] * t) + p["b"] * t for t in times]
        return [m - 10 - 3 * math.exp(-2 * t) - 0.5 * t for m, t in zip(model, times, strict=True)]

    initial = {"c": 9.0, "a": 2.0, "k": 1.5, "b": 0.0}
    width = {"c": 20, "a": 10, "k": 5, "b": 1}
    space = {name: culmen.real(-w, w, initial=initial[name]) for name, w in width.items()}
    options = {"descents": 1, "screen": 1}
    result = culmen.minimize(f, space, budget=60, result="residuals", options=options, workers=1)
    assert result.value < 1e-15


def two_lengths(p):
    short, slow = p["x"] > 0, p["x"] > 0
    time.sleep(0.3 if slow else 0)
    return [p["x"], 1.0, 2.0] if short else [p["x"], 1.0, 2.0, 3.0]


@pytest.mark.parametrize("workers", [1, 4])
def test_residuals_of_two_lengths_end_the_study_alike_whoever_arrives_first(workers):
    starts = [[1.0], [-0.5], [1.2], [-0.2]]
    options = {"budget": 12, "result": "residuals", "workers": workers, "optimizer": "random", "starts": starts}
    result = culmen.minimize(two_lengths, {"x": (-1, 1.5)}, **options)
    assert (result.reason, result.evaluations, result.failed) == ("failure", 1, 0)
    assert result.message == (
        "evaluation 1 returned 4 residuals, but evaluation 0 returned 3; all evaluations must return the same number: "
        "if there is no value, return NaN or raise an exception"
    )


def test_a_study_with_residuals_of_two_lengths_resumes_when_the_model_is_mended(tmp_path):
    mended = []

    def f(p):
        full = [p["x"] - 1, 2 * p["y"], 1.0, 2.0]
        return full if p["x"] > -2 else [math.nan] * 4 if mended else full[:2]

    options = {"budget": 100, "result": "residuals", "workers": 2, "store": tmp_path / "s.db"}
    space = {"x": (-5, 5), "y": (-5, 5)}
    for _ in range(2):
        result = culmen.minimize(f, space, **options)
        assert result.reason == "failure"
        assert "residuals, but evaluation" in result.message  # either length may come first
    mended.append(True)
    with pytest.warns(UserWarning, match="has changed since this study was started"):
        result = culmen.minimize(f, space, accept_changes=True, **options)
    assert (result.reason, result.evaluations, len(result.residuals)) == ("evaluations", 100, 4)
    outcomes = culmen._core.Store.read(str(tmp_path / "s.db")).outcomes(0, 100)
    assert {len(o["residuals"]) for o in outcomes if o["status"] == "ok"} == {4}
