"""Errors of fits without bounds whose parameters run to infinity: no error, a reason, and no warning."""

import math
import warnings

import numpy as np
import pytest
from culmen.fit.finding import Fit
from culmen.problem.space import Space
from fits import Sample

import culmen
from culmen import real

START = real(initial=1.0)


@pytest.fixture(autouse=True)
def _warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def decay(x):
    return [math.exp(-x[0] * t) for t in range(1, 9)]


def tail(x):
    return [1 / (1 + abs(x[0]))]


def saturation(x):
    return [x[0] * t / (x[1] + t) - 0.5 * t for t in range(1, 9)]


@pytest.mark.parametrize("lower", [-math.inf, 0.0])
@pytest.mark.parametrize("as_value", [False, True])
@pytest.mark.parametrize(("model", "x"), [(decay, 372.7), (decay, 700.0), (decay, 1e300), (tail, 9e161), (tail, 1e308)])
def test_a_parameter_without_an_effect_has_no_error_but_a_reason(model, x, as_value, lower):
    sample = Sample(Space([real(lower=lower, initial=1.0)]), model, as_value=as_value)
    for profile in (False, True):
        errors = sample.errors([x], profile=profile)
        (row,) = errors.parameters
        assert (row.error, row.note) == (None, "not determined")
        assert any(n.startswith("the data do not determine x0: it has no effect") for n in errors.notes)
        assert math.isfinite(errors.distance)


@pytest.mark.parametrize("size", [1e8, 1e100, 1e200, 1e307])
def test_ends_of_profiles_beyond_the_finite_numbers_are_not_found(size):
    """The residuals vanish at any such size, and h and k can both grow without end."""
    sample = Sample(Space([START, START]), saturation)
    errors = sample.errors([0.5 * size, size], profile=True)
    for row in errors.parameters:
        ends = (row.interval.lower, row.interval.upper)
        assert all(end is None or math.isfinite(end) for end in ends)
        assert row.interval.upper is None
        assert row.interval.upper_note
    assert all(math.isfinite(v) for vector in sample.calls for v in vector)


def test_derivatives_that_are_not_finite_are_a_reason():
    sample = Sample(Space([START, START]), lambda x: [1e200 * math.atan(1e150 * x[0]), x[1]])
    errors = sample.errors([0.0, 0.0])
    assert errors["x1"].error == pytest.approx(1.0)
    assert errors["x0"].error is None
    assert errors["x0"].note == "no derivative (its derivatives are too large, or not finite), held fixed"


def test_arithmetic_errors_are_the_reason_why_a_fit_has_no_errors(monkeypatch):
    def raises(self):
        raise np.linalg.LinAlgError("SVD did not converge")

    result = culmen.minimize(lambda p: [p["a"] - 1], {"a": START}, result="residuals", workers=1)
    monkeypatch.setattr(Fit, "_errors", raises)
    with pytest.raises(culmen.CulmenError, match=r"^the errors could not be computed: SVD did not converge$"):
        _ = result.errors


def test_a_finished_fit_that_ran_to_infinity_has_errors_without_a_number():
    result = culmen.minimize(
        lambda p: decay([p["r"]]), {"r": START}, result="residuals", workers=1, budget=1000, seed=1
    )
    row = result.errors["r"]
    assert row.error is None or math.isfinite(row.error)
    assert str(result.errors)


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("sqrt(-x)", "it is not finite"),
        ("1 / (x - x)", "it is not finite"),
        ("x + 0 * y", None),
        ("x + y", "it depends on a parameter without an error"),
    ],
)
def test_a_derived_value_without_an_error_has_the_true_reason(expression, why):
    result = culmen.minimize(
        lambda p: [p["x"] - 1.0, p["x"] - 1.2],
        {"x": (0.5, 3), "y": (0, 1)},
        result="residuals",
        derived={"d": expression},
        budget=60,
        workers=1,
    )
    (row,) = result.errors.derived
    assert row.note == ("derived" if why is None else f"derived; {why}")
    assert (row.error is None) == (why is not None)
