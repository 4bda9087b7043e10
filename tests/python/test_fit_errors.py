"""Errors of fits: derivatives, covariance, what is not determined, against certified and brute figures."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from culmen.fit.errors import Errors
from culmen.problem.space import Space
from fits import Sample, fit

from culmen import InputError, categorical, integer, real

DATA = Path(__file__).parent.parent / "data" / "nist_strd"
exp = np.exp
MODELS = {
    "Misra1a": lambda b, x: b[0] * (1 - exp(-b[1] * x)),
    "BoxBOD": lambda b, x: b[0] * (1 - exp(-b[1] * x)),
    "Eckerle4": lambda b, x: b[0] / b[1] * exp(-0.5 * ((x - b[2]) / b[1]) ** 2),
    "Rat43": lambda b, x: b[0] / (1 + exp(b[1] - b[2] * x)) ** (1 / b[3]),
    "Thurber": lambda b, x: (b[0] + b[1] * x + b[2] * x**2 + b[3] * x**3) / (1 + b[4] * x + b[5] * x**2 + b[6] * x**3),
    "MGH10": lambda b, x: b[0] * exp(b[1] / (x + b[2])),
    "Bennett5": lambda b, x: b[0] * (b[1] + x) ** (-1 / b[2]),
}


def certified(name: str) -> tuple[Sample, np.ndarray, np.ndarray]:
    """The set as a sample, its certified parameters and their certified standard deviations."""
    lines = (DATA / f"{name}.dat").read_text().splitlines()
    figures = np.array([line.split("=")[1].split() for line in lines[40:60] if re.match(r"\s*b\d+ =", line)], float)
    first, last = map(int, re.search(r"Data\s+\(lines (\d+) to (\d+)\)", "\n".join(lines[:12])).groups())
    y, x = np.array([line.split() for line in lines[first - 1 : last]], float).T
    b, deviations = figures[:, 2], figures[:, 3]
    space = Space([real(v - 9 * abs(v), v + 11 * abs(v)) for v in b])
    return Sample(space, lambda p: MODELS[name](p, x) - y), b, deviations


@pytest.mark.parametrize("name", MODELS)
def test_errors_times_s_are_the_certified_standard_deviations(name):
    sample, b, deviations = certified(name)
    errors = sample.errors(b)
    assert [p.scaled for p in errors.parameters] == pytest.approx(deviations, rel=1e-5)
    assert (errors.evaluations, len(sample.calls)) == (2 * len(b), 2 * len(b))
    assert not errors.notes


def line(**more: object) -> Sample:
    """y = a + b x with a third parameter that something may be done with."""
    x, y = np.arange(5.0), np.array([1.0, 2.9, 5.2, 6.8, 9.1])
    return Sample(Space({"a": (-10, 10), "b": (-10, 10), **more}), lambda p: p[0] + p[1] * x - y)


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


def test_a_parameter_at_its_bound_is_held_and_the_others_are_given_that():
    whole, b, _ = certified("Misra1a")
    wall = b[0] * 0.9
    walled = Sample(Space({"top": (1.0, wall), "rate": (1e-6, 1e-2)}), whole.residuals)
    x = fit(walled, [wall * 0.9, 5e-4])
    x[0] = wall
    errors = walled.errors(x)
    alone = Sample(Space({"rate": (1e-6, 1e-2)}), lambda p: whole.residuals([wall, *p])).errors(x[1:])
    assert (errors["top"].error, errors["top"].note) == (None, "at bound (upper), held fixed")
    assert errors["rate"].error == pytest.approx(alone["rate"].error, rel=1e-6)
    assert (errors.free, errors.dof) == (["rate"], 13)


def test_a_parameter_that_only_the_bound_stops_is_at_it_though_the_search_ended_beside():
    whole, b, _ = certified("Misra1a")
    wall = b[0] * 0.9
    walled = Sample(Space({"top": (1.0, wall), "rate": (1e-6, 1e-2)}), whole.residuals)
    x = fit(walled, [wall * 0.9, 5e-4])
    x[0] = wall * (1 - 4e-6)
    errors = walled.errors(x)
    assert errors["top"].note == "at bound (upper), held fixed"
    assert errors.distance < 0.01


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


def certified_x(name: str) -> np.ndarray:
    lines = (DATA / f"{name}.dat").read_text().splitlines()[60:]
    return np.array([line.split()[1] for line in lines if line.strip()], float)


def test_points_that_violate_a_constraint_are_not_evaluated():
    whole, b, deviations = certified("Misra1a")
    bounds = {"top": (1, 1e4), "rate": (1e-6, 1)}
    sample = Sample(Space(bounds, [f"top <= {float(b[0])!r}"]), whole.residuals)
    errors = sample.errors(b)
    assert all(x[0] <= b[0] for x in sample.calls)
    assert [p.scaled for p in errors.parameters] == pytest.approx(deviations, rel=1e-5)


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
    sample = Sample(Space({"x": (-1, 1), "y": (-1, 1)}), lambda p: [0], as_value=True)
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


LINE_X = np.linspace(0, 1, 20)


def sloped(x):
    return (x[0] + x[1] * LINE_X - 3 - 2 * LINE_X + 0.01 * np.cos(7 * LINE_X)) / 0.1


def test_a_parameter_without_effect_leaves_the_errors_of_the_others():
    space = [real(-100, 100), real(-100, 100)]
    alone = Sample(Space(space), sloped)
    best = fit(alone, [1, 1])
    beside = Sample(Space([*space, real(0, 1)]), lambda x: sloped(x)).errors([*best, 0.5])
    assert [p.error for p in beside.parameters[:2]] == pytest.approx(
        [p.error for p in alone.errors(best).parameters], rel=1e-6
    )
    assert beside.parameters[2].error is None


def test_a_box_that_is_wide_beside_the_error_holds_nothing():
    sample = Sample(Space([real(0, 1e7), real(-100, 100)]), sloped)
    found = sample.errors(fit(sample, [1, 1]))
    assert [p.note for p in found.parameters] == ["", ""]
    assert all(p.error for p in found.parameters)


def test_a_parameter_in_the_middle_of_its_box_is_not_at_a_bound_though_the_data_hardly_know_it():
    sample = Sample(Space([real(-5, 5), real(0, 1)]), lambda x: [x[0] - 1, 1e-4 * (x[1] - 0.5), 2 * (x[0] - 1.1)])
    found = sample.errors([1.08, 0.5])
    assert not any("at bound" in p.note for p in found.parameters)


ROOM = {  # what is left before each constraint
    "a + b <= 2.5": lambda a, b: 2.5 - a - b,
    "a + b <= 3.2": lambda a, b: 3.2 - a - b,
    "a * a + b * b <= 4": lambda a, b: 4 - a * a - b * b,
    "a <= 0.5": lambda a, b: 0.5 - a + 0 * b,
}


def at_constraint(constraint: str, as_value: bool = False) -> tuple[Sample, list[float]]:
    """The line y = a + b x at its best within a constraint of a and b, and that candidate, by SciPy."""
    from scipy.optimize import minimize

    plain = line()
    space = Space({"a": (-10, 10), "b": (-10, 10)}, {"wall": constraint})
    kept = {"type": "ineq", "fun": lambda p: ROOM[constraint](*p) - 1e-9}
    found = minimize(lambda p: plain.outcome(p).cost, [0, 1], constraints=kept, method="SLSQP", tol=1e-14)
    return Sample(space, plain.residuals, as_value=as_value), [float(v) for v in found.x]


@pytest.mark.parametrize("as_value", [False, True])
def test_a_fit_at_a_constraint_is_said_to_be_there_and_its_errors_are_along_it(as_value):
    sample, x = at_constraint("a + b <= 2.5", as_value)
    errors = sample.errors(x)
    assert [note.partition(",")[0] for note in errors.notes] == ["the fit lies at the constraint wall"]
    assert errors.distance < 1e-3
    along = 1 / math.sqrt(sum((1 - np.arange(5.0)) ** 2))  # a rises by what b falls
    assert [p.error for p in errors.parameters] == pytest.approx([along, along], rel=1e-4)
    assert errors.correlation[0][1] == pytest.approx(-1)
    assert errors.dof == (0 if as_value else 4)


def test_a_parameter_that_a_constraint_holds_has_no_error():
    sample, x = at_constraint("a <= 0.5")
    errors = sample.errors(x)
    assert (errors["a"].error, errors["a"].note) == (None, "at constraint wall, held fixed")
    assert errors["b"].error == pytest.approx(1 / math.sqrt(sum(np.arange(5.0) ** 2)), rel=1e-6)


def test_a_curved_constraint_is_kept_to_as_well():
    sample, x = at_constraint("a * a + b * b <= 4")
    errors = sample.errors(x)
    assert [note.partition(",")[0] for note in errors.notes] == ["the fit lies at the constraint wall"]
    assert errors.correlation[0][1] == pytest.approx(-1)


def test_a_constraint_beside_which_the_minimum_lies_says_nothing():
    sample = line()
    x = fit(sample, [0, 0])
    near = Sample(Space({"a": (-10, 10), "b": (-10, 10)}, [f"a + b <= {sum(x) + 1e-7!r}"]), sample.residuals)
    errors = near.errors(x)
    assert (errors.notes, errors.dof) == ([], 3)
    assert errors["a"].error == pytest.approx(sample.errors(x)["a"].error, rel=1e-6)


def test_values_beside_a_constraint_have_second_derivatives_from_the_other_side():
    sample = line()
    x = fit(sample, [0, 0])
    near = Sample(Space({"a": (-10, 10), "b": (-10, 10)}, [f"a <= {x[0]!r}"]), sample.residuals, as_value=True)
    errors = near.errors(x)
    assert all(c[0] <= x[0] for c in near.calls)
    assert [p.error for p in errors.parameters] == pytest.approx([p.error for p in sample.errors(x).parameters], 1e-4)


@pytest.mark.parametrize("side", [-1, 1])
def test_a_minimum_inside_is_not_at_a_bound_for_the_sign_of_a_gradient_that_is_all_but_zero(side):
    sample = line()
    x = fit(sample, [0, 0])
    beside = [x[0] + side * 1e-5, x[1]]
    space = Space({"a": (-10, 10), "b": (-10, 10)})
    for walled in (Space({"a": (-10, x[0] + 1e-4), "b": (-10, 10)}), Space({"a": (x[0] - 1e-4, 10), "b": (-10, 10)})):
        errors = Sample(walled, sample.residuals).errors(beside)
        assert errors["a"].note == ""
        assert errors["a"].error == pytest.approx(Sample(space, sample.residuals).errors(x)["a"].error, rel=1e-6)


def test_an_error_that_reaches_beyond_both_bounds_says_so():
    sample = Sample(Space({"a": (-5, 5), "b": (0, 1)}), lambda p: [p[0] - 1, 0.5 * (p[1] - 0.5), 2 * (p[0] - 1.1)])
    errors = sample.errors([1.08, 0.5])
    assert errors["b"].error == pytest.approx(2)
    assert (errors["a"].note, errors["b"].note) == ("", "wider than its bounds")
    said = "the error of b is wider than the bounds, so it means little; a profile shows the range within them"
    assert errors.notes == [said]


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
    assert errors.lines[0].startswith("Errors: the value falls by 0.5 over one error (use 0.5 for log L); from ")
    away = given.errors([x[0] + 1, x[1]], up=0.5)
    assert any(note.startswith("the fit is not at its maximum, which") and " above by " in note for note in away.notes)
    saddle = Sample(Space({"x": (-1, 1), "y": (-1, 1)}), lambda p: [0], True, 1.0, [("height", "maximize")])
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
