"""Errors of fits: derivatives, covariance, what is not determined, against certified and brute figures."""

import math
import re

import numpy as np
import pytest
from culmen.fit.covariance import of_residuals
from culmen.fit.errors import Errors
from culmen.problem.space import Space
from fits import MODELS, Sample, certified, certified_x, fit, line, sloped

from culmen import InputError, _core, categorical, integer, real

exp = np.exp


@pytest.mark.parametrize("name", MODELS)
def test_errors_times_s_are_the_certified_standard_deviations(name):
    sample, b, deviations = certified(name)
    errors = sample.errors(b)
    assert [p.scaled for p in errors.parameters] == pytest.approx(deviations, rel=1e-5)
    assert (errors.evaluations, len(sample.calls)) == (2 * len(b), 2 * len(b))
    assert not errors.notes


def test_errors_of_a_line_are_those_of_the_textbook():
    sample = line()
    errors = sample.errors(fit(sample, [0, 0]))
    design = np.column_stack([np.ones(5), np.arange(5.0)])
    covariance = np.linalg.inv(design.T @ design)
    assert np.array(errors.covariance) == pytest.approx(covariance, rel=1e-8)
    assert errors["a"].error == pytest.approx(math.sqrt(covariance[0, 0]), rel=1e-8)
    assert errors.correlation[0][1] == pytest.approx(covariance[0, 1] / np.sqrt(np.prod(np.diag(covariance))))
    assert (errors.residuals, errors.dof) == (5, 3)
    assert errors.scale == pytest.approx(math.sqrt(errors.value / 3))
    assert errors["b"].scaled == pytest.approx(errors["b"].error * errors.scale)
    assert "Δχ² = 1" in str(errors)


def test_a_fit_may_have_a_million_residuals():
    """Memory for a square of them would be 7 TiB."""
    n, loss = 1_000_000, _core.StudyConfig().loss_of_residuals
    design = np.column_stack([np.ones(n), np.linspace(0, 1, n)])
    found = of_residuals(design, np.zeros(n), loss, ["a", "b"], np.zeros(2))
    assert found.errors == pytest.approx(np.sqrt(np.diag(np.linalg.inv(design.T @ design))), rel=1e-9)


def test_a_parameter_on_a_logarithmic_scale_has_its_error_in_its_own_unit():
    plain, b, _ = certified("Misra1a")
    logarithmic = Sample(Space([real(1, 1e4, "log"), real(1e-7, 1, "log")]), plain.residuals)
    mine, other = logarithmic.errors(b), plain.errors(b)
    assert [p.error for p in mine.parameters] == pytest.approx([p.error for p in other.parameters], rel=1e-7)


@pytest.mark.parametrize("digits", [6, 8])
def test_steps_grow_where_the_evaluator_prints_few_digits(digits):
    exact, b, deviations = certified("Rat43")
    rounded = Sample(exact.space, lambda p: [float(f"{r:.{digits - 1}e}") for r in exact.residuals(p)])
    errors = rounded.errors(b)
    assert [p.scaled for p in errors.parameters] == pytest.approx(deviations, rel=2e-2)


def test_what_is_discrete_or_inactive_is_held_and_said_to_be():
    sample = line(
        n=integer(1, 5),
        kind=categorical(["p", "q"]),
        late=real(0, 1, active_when="n > 3"),
    )
    errors = sample.errors([*fit(line(), [0, 0]), 2, 1, 0.5])
    assert [(p.name, p.note) for p in errors.parameters[2:]] == [
        ("n", "integer, held fixed"),
        ("kind", "categorical, held fixed"),
    ]
    assert errors["kind"].value == "q"
    assert errors.free == ["a", "b"]


def test_parameters_that_only_their_sum_is_known_of_are_named():
    x, y = np.arange(5.0), np.array([1.0, 2.9, 5.2, 6.8, 9.1])
    sample = Sample(Space({"a": (-9, 9), "b": (-9, 9), "c": (-9, 9)}), lambda p: (p[0] + p[2]) + p[1] * x - y)
    plain = line()
    a, b = fit(plain, [0, 0])
    errors = sample.errors([a - 0.5, b, 0.5])
    assert errors.notes == ["the data do not determine a and c separately: one combination of them has no effect"]
    assert (errors["a"].error, errors["c"].note) == (None, "not determined")
    assert errors["b"].error == pytest.approx(plain.errors([a, b])["b"].error, rel=1e-6)
    assert (errors.free, errors.dof) == (["b"], 3)


def test_a_parameter_without_any_influence_is_named():
    sample = line(idle=(0, 1))
    errors = sample.errors([*fit(line(), [0, 0]), 0.3])
    assert errors.notes == ["the data do not determine idle: it has no effect"]
    assert errors["a"].error == pytest.approx(line().errors(fit(line(), [0, 0]))["a"].error, rel=1e-6)


def test_where_the_model_fails_on_one_side_the_other_gives_the_derivative():
    whole, b, deviations = certified("Misra1a")
    sample = Sample(whole.space, lambda p: whole.residuals(p) if p[1] <= b[1] else [math.nan] * 14)
    errors = sample.errors(b)
    assert [p.scaled for p in errors.parameters] == pytest.approx(deviations, rel=1e-5)


def test_where_it_fails_on_both_sides_the_parameter_is_held_with_the_reason():
    whole, b, _ = certified("Misra1a")
    sample = Sample(whole.space, lambda p: whole.residuals(p) if p[1] == b[1] else [math.nan] * 14)
    errors = sample.errors(b)
    assert errors["x1"].note == "no derivative (a residual is not finite), held fixed"
    assert errors["x0"].error == pytest.approx(1 / np.linalg.norm(1 - exp(-b[1] * certified_x("Misra1a"))), rel=1e-6)


def test_a_fit_that_is_not_at_its_minimum_is_told_so():
    sample, b, _ = certified("Misra1a")
    errors = sample.errors([b[0] * 1.05, b[1]])
    assert any(note.startswith("the fit is not at its minimum") for note in errors.notes)
    assert errors.distance == pytest.approx(sample.outcome([b[0] * 1.05, b[1]]).cost - sample.outcome(b).cost, rel=0.1)


def test_a_value_that_is_a_chi_squared_has_the_errors_of_its_residuals():
    sample = line()
    x = fit(sample, [0, 0])
    of_value = Sample(sample.space, sample.residuals, as_value=True).errors(x)
    of_residuals = sample.errors(x)
    assert [p.error for p in of_value.parameters] == pytest.approx([p.error for p in of_residuals.parameters], rel=1e-4)
    assert of_value.correlation[0][1] == pytest.approx(of_residuals.correlation[0][1], rel=1e-4)
    assert (of_value.residuals, of_value.scale, of_value["a"].scaled) == (0, None, None)


def test_up_is_by_how_much_the_value_rises():
    sample = line()
    x = fit(sample, [0, 0])
    log_likelihood = Sample(sample.space, sample.residuals, as_value=True, factor=0.5)
    assert log_likelihood.errors(x, up=0.5)["a"].error == pytest.approx(sample.errors(x)["a"].error, rel=1e-4)


def test_a_maximized_value_has_the_errors_of_its_negative():
    sample = line()
    x = fit(sample, [0, 0])
    given = Sample(sample.space, sample.residuals, as_value=True, objectives=[("log_likelihood", "maximize")])
    errors = given.errors(x)
    assert errors["a"].error == pytest.approx(sample.errors(x)["a"].error, rel=1e-4)
    assert errors.value == -given.outcome(x).cost


def test_a_saddle_is_no_minimum():
    sample = Sample(Space({"x": (-2, 2), "y": (-2, 2)}), lambda p: [0], as_value=True)
    sample.outcome = lambda p: _value(p[0] ** 2 - p[1] ** 2)
    errors = sample.errors([0.0, 0.0])
    assert errors.notes == ["this is not a minimum: the value falls along a direction of y"]
    assert (errors["x"].error, errors["y"].error) == (pytest.approx(1, rel=1e-4), None)


def _value(value: float):
    from culmen.problem.outcome import Outcome

    return Outcome("ok", value, {}, 0.0, [], {}, "", 0.0, value)


def test_errors_travel_as_json():
    sample = line(n=integer(1, 5))
    errors = sample.errors([*fit(line(), [0, 0]), 2], profile=True)
    assert Errors.from_json(errors.to_json()) == errors


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({"confidence": 1.5}, "confidence must be between 0 and 1, such as 0.683, got 1.5"),
        ({"up": 0.0}, "up must be above 0"),
    ],
)
def test_a_mistake_is_one_sentence(wanted, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        line().errors([0, 0], **wanted)


def test_a_space_without_a_free_parameter_has_no_errors():
    sample = Sample(Space({"n": integer(1, 5)}), lambda p: [p[0] - 2.5])
    with pytest.raises(InputError, match="no parameter is free: n: integer, held fixed"):
        sample.errors([2])


def test_a_parameter_without_effect_leaves_the_errors_of_the_others():
    space = [real(-100, 100), real(-100, 100)]
    alone = Sample(Space(space), sloped)
    best = fit(alone, [1, 1])
    beside = Sample(Space([*space, real(0, 1)]), lambda x: sloped(x)).errors([*best, 0.5])
    assert [p.error for p in beside.parameters[:2]] == pytest.approx(
        [p.error for p in alone.errors(best).parameters], rel=1e-6
    )
    assert beside.parameters[2].error is None


def test_another_number_of_residuals_beside_is_a_sentence():
    sample = line()
    x = fit(sample, [0, 0])
    ragged = Sample(sample.space, lambda p: [*sample.residuals(p), *([0.0] if p[1] != x[1] else [])])
    errors = ragged.errors(x)
    said = "there are 6 residuals there, but 5 at the best candidate"
    assert errors["b"].note == f"no derivative ({said}), held fixed"
    assert errors["a"].error == pytest.approx(1 / math.sqrt(5))


def test_of_a_maximized_value_it_is_said_how_it_falls():
    sample = line()
    x = fit(sample, [0, 0])
    given = Sample(sample.space, sample.residuals, True, 0.5, [("log_likelihood", "maximize")])
    errors = given.errors(x, up=0.5)
    assert errors.lines[0].startswith("Errors: the value falls by 0.5 over one error (use 0.5 for log L). culmen made ")
    away = given.errors([x[0] + 1, x[1]], up=0.5)
    assert any(note.startswith("the fit is not at its maximum, which") and " above by " in note for note in away.notes)
    saddle = Sample(Space({"x": (-2, 2), "y": (-2, 2)}), lambda p: [0], True, 1.0, [("height", "maximize")])
    saddle.outcome = lambda p: _value(p[0] ** 2 - p[1] ** 2)
    assert saddle.errors([0.0, 0.0]).notes == ["this is not a maximum: the value rises along a direction of y"]


PRODUCT_X = np.linspace(0, 1, 20)


@pytest.mark.parametrize("level", [0.0, 1e3])
def test_of_a_value_too_only_a_product_is_known_wherever_it_stands(level):
    def residuals(p):
        return np.append(
            (p[0] * p[1] * PRODUCT_X + p[2] - 2 * PRODUCT_X - 1 + 0.05 * np.cos(9 * PRODUCT_X)) / 0.05, level
        )

    sample = Sample(Space({"a": (0.1, 10), "b": (0.1, 10), "c": (-5, 5)}), residuals, as_value=True)
    x = fit(sample, [1, 2, 1])
    errors = sample.errors(x)
    assert (errors["a"].error, errors["b"].note) == (None, "not determined")
    assert errors["c"].error == pytest.approx(Sample(sample.space, residuals).errors(x)["c"].error, rel=1e-2)
    assert errors.notes == [
        "the data do not determine a and b separately: one combination of them has no effect, "
        "as far as second differences of the value show"
    ]


def test_of_a_value_close_correlations_are_no_lack_of_knowledge():
    x = np.linspace(0, 1, 20)
    sample = Sample(
        Space({"a": (-1e5, 1e5), "b": (-1e5, 1e5)}), lambda p: (p[0] * x + p[1] * (x + 1e-3 * x * x) - x) / 0.1
    )
    best = [1.0, 0.0]
    of_value = Sample(sample.space, sample.residuals, as_value=True).errors(best)
    assert [p.error for p in of_value.parameters] == pytest.approx(
        [p.error for p in sample.errors(best).parameters], rel=0.02
    )


def test_a_value_of_few_digits_makes_no_saddle_of_a_minimum():
    exact, b, _ = certified("MGH10")
    scale = len(exact.residuals(b)) / exact.outcome(b).cost
    sample = Sample(exact.space, lambda p: [math.sqrt(float(f"{scale * exact.outcome(p).cost:.8g}"))], as_value=True)
    assert not any("not a minimum" in note for note in sample.errors(b).notes)
