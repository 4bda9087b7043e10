"""Optimizers from Python: what is chosen, options, residuals and several objectives by ask and tell."""

import math

import pytest

import culmen
from culmen import InputError


def decay(p):
    return [p["a"] * math.exp(-p["b"] * t) - 2.5 * math.exp(-1.3 * t) for t in range(6)]


DECAY = {"a": (0.01, 100), "b": (0.01, 100)}


def test_residuals_of_real_parameters_are_fitted_by_lm():
    result = culmen.minimize(decay, DECAY, budget=400, result="residuals", options={"agreement": 0}, workers=2)
    assert (result.optimizer, result.optimizer_why) == ("lm", "residuals of real parameters")
    assert result.remark.endswith("descents ended at the best value")
    assert result.best == pytest.approx({"a": 2.5, "b": 1.3}, rel=1e-12)


def test_a_fit_ends_when_nothing_is_to_be_gained():
    result = culmen.minimize(decay, DECAY, budget=100000, result="residuals", workers=2)
    assert (result.reason, result.final) == ("exhausted", True)
    assert result.evaluations < 2000
    assert result.message == f"nothing more to try after {result.evaluations} evaluations"
    assert result.remark.endswith("descents ended at the best value, no better one is to be expected")
    assert result.best == pytest.approx({"a": 2.5, "b": 1.3}, rel=1e-12)


def test_choices_are_left_to_evolution():
    space = {"x": (-5, 5), "c": culmen.categorical(["s", "t", "u"])}
    result = culmen.minimize(lambda p: (p["x"] - 1) ** 2 + (p["c"] != "u"), space, budget=800, workers=2)
    assert (result.optimizer, result.optimizer_why) == ("evolution", "categorical parameters")
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
        ("lm", {}, "optimizer 'lm' needs residuals: let the evaluator return them"),
        ("grid", {"order": "roes"}, "option 'order' is \"roes\", it must be one of"),
        ("grid", {"points": True}, "option 'points' is true, it must be a whole number"),
        ("grid", {"points": [1]}, r"option 'points' is \[1\]; a number, a word, or true or false is wanted"),
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
    assert optimizer.name == "evolution"
    seen = []
    for _ in range(30):
        for candidate in optimizer.ask(100):
            x = candidate.params["x"]
            seen.append(x)
            optimizer.tell(candidate, [x**2, (x - 2) ** 2])
    assert sum(0 <= x <= 2 for x in seen[-500:]) > 350
