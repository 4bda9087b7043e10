"""Errors of fits at bounds and at constraints, and beside them."""

import math

import numpy as np
import pytest
from culmen.problem.space import Space
from fits import Sample, at_constraint, certified, fit, line, sloped

from culmen import InputError, real


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


def test_points_that_violate_a_constraint_are_not_evaluated():
    whole, b, deviations = certified("Misra1a")
    bounds = {"top": (1, 1e4), "rate": (1e-6, 1)}
    sample = Sample(Space(bounds, [f"top <= {float(b[0])!r}"]), whole.residuals)
    errors = sample.errors(b)
    assert all(x[0] <= b[0] for x in sample.calls)
    assert [p.scaled for p in errors.parameters] == pytest.approx(deviations, rel=1e-5)


def test_a_box_that_is_wide_beside_the_error_holds_nothing():
    sample = Sample(Space([real(0, 1e7), real(-100, 100)]), sloped)
    found = sample.errors(fit(sample, [1, 1]))
    assert [p.note for p in found.parameters] == ["", ""]
    assert all(p.error for p in found.parameters)


def test_a_parameter_in_the_middle_of_its_box_is_not_at_a_bound_though_the_data_hardly_know_it():
    sample = Sample(Space([real(-5, 5), real(0, 1)]), lambda x: [x[0] - 1, 1e-4 * (x[1] - 0.5), 2 * (x[0] - 1.1)])
    found = sample.errors([1.08, 0.5])
    assert not any("at bound" in p.note for p in found.parameters)


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


def test_if_every_parameter_is_at_a_bound_this_is_the_reason():
    sample = Sample(Space({"a": (0, 1), "b": (0, 1)}), lambda p: [p[0] + 1, p[1] + 2])
    for x in ([0, 0], [0, 1e-7]):
        with pytest.raises(InputError, match=r"^every parameter is at a bound$"):
            sample.errors(x)
