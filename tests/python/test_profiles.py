"""Intervals of the profile likelihood, against SciPy's brute search and what is known."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from culmen.fit.errors import ONE_SIGMA, Errors
from culmen.problem.space import Space
from fits import ROOM, Sample, at_constraint, brute_end, certified, fit, line, rise_at

from culmen import real


def ends(errors, name):
    interval = errors[name].interval
    return interval.lower, interval.upper


def test_intervals_of_a_line_are_its_errors():
    sample = line()
    x = fit(sample, [0, 0])
    errors = sample.errors(x, profile=True)
    for name, value in zip(("a", "b"), x, strict=True):
        error = errors[name].error
        assert ends(errors, name) == pytest.approx((value - error, value + error), abs=1e-5 * error)
    assert errors.confidence == ONE_SIGMA


def test_the_confidence_widens_them():
    sample = line()
    x = fit(sample, [0, 0])
    errors = sample.errors(x, profile=True, confidence=0.95)
    assert ends(errors, "a")[1] - x[0] == pytest.approx(1.959964 * errors["a"].error, rel=1e-4)


def scaled(name: str) -> tuple[Sample, list[float]]:
    """A certified set with residuals in units of its own standard deviation."""
    sample, b, _ = certified(name)
    deviation = math.sqrt(sample.outcome(b).cost / (len(sample.residuals(b)) - len(b)))
    sample = Sample(sample.space, lambda p, r=sample.residuals: r(p) / deviation)
    return sample, [float(v) for v in b]


@pytest.mark.parametrize("name", ["Misra1a", "BoxBOD", "Rat43", "Bennett5"])
def test_intervals_of_curved_models_are_those_of_a_brute_search(name):
    sample, b = scaled(name)
    errors = sample.errors(b, profile=True)
    for i, p in enumerate(errors.parameters):
        for side, end in zip((-1, 1), ends(errors, p.name), strict=True):
            assert end == pytest.approx(brute_end(sample, b, i, side), abs=1e-3 * p.error), (p.name, side)


def test_an_exponential_has_asymmetric_intervals():
    sample, b = scaled("BoxBOD")
    errors = sample.errors(b, profile=True)
    lower, upper = ends(errors, "x1")
    assert (upper - b[1]) / (b[1] - lower) > 1.2


def test_of_a_value_they_are_the_same():
    sample, b = scaled("BoxBOD")
    of_value = Sample(sample.space, sample.residuals, as_value=True).errors(b, profile=True)
    of_residuals = sample.errors(b, profile=True)
    for name in ("x0", "x1"):
        assert ends(of_value, name) == pytest.approx(ends(of_residuals, name), abs=1e-3 * of_residuals[name].error)


def test_an_interval_ends_at_a_bound_where_the_profile_meets_it():
    sample, b = scaled("Misra1a")
    free = sample.errors(b, profile=True)
    near = Sample(Space([(1, b[0] + 0.3 * free["x0"].error), (1e-6, 1)]), sample.residuals)
    interval = near.errors(b, profile=True)["x0"].interval
    assert (interval.upper, interval.upper_note) == (None, "at bound")
    assert interval.lower == pytest.approx(free["x0"].interval.lower, abs=1e-3 * free["x0"].error)


@pytest.mark.parametrize("as_value", [False, True])
def test_a_parameter_at_its_bound_has_an_interval_on_the_inner_side(as_value):
    sample, b = scaled("Misra1a")
    wall = b[0] - 0.5 * sample.errors(b)["x0"].error
    walled = Sample(Space([(1, wall), (1e-6, 1)]), sample.residuals)
    x = fit(walled, [wall * 0.9, b[1]])
    x[0] = wall
    errors = Sample(walled.space, walled.residuals, as_value=as_value).errors(x, profile=True)
    interval = errors["x0"].interval
    assert (errors["x0"].error, interval.upper_note) == (None, "at bound")
    assert walled.outcome(x).cost + 1 == pytest.approx(_profile(walled, interval.lower), abs=1e-3)


def _profile(sample: Sample, top: float) -> float:
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(lambda rate: sample.outcome([top, rate]).cost, bracket=(5e-4, 6e-4), tol=1e-12)
    return float(found.fun)


def test_where_the_model_fails_before_the_end_the_interval_says_so():
    sample, b = scaled("Misra1a")
    cliff = b[0] + 0.4 * sample.errors(b)["x0"].error
    steep = Sample(sample.space, lambda p: sample.residuals(p) if p[0] < cliff else [math.nan] * 14)
    interval = steep.errors(b, profile=True)["x0"].interval
    assert (interval.upper, interval.upper_note) == (None, "before it, evaluations fail or their values jump")
    assert interval.lower is not None


def test_a_better_minimum_that_is_met_on_the_way_is_told_with_its_place():
    """Two valleys in t, the right one deeper; the fit is in the left one."""
    sample = Sample(Space({"t": (-5, 5), "a": (-5, 5)}), lambda p: [(p[0] ** 2 - 1) * 2, (p[0] - 1) * 0.3, p[1]])
    left = min(np.linspace(-1.2, -0.5, 20001), key=lambda t: sample.outcome([t, 0]).cost)
    errors = sample.errors([float(left), 0], profile=True, confidence=0.95)
    assert errors.lower_minimum is not None
    assert errors.lower_minimum["t"] > left
    assert any(note.startswith("the fit was not at the minimum: the profiles found") for note in errors.notes)
    assert errors["t"].interval is None


def test_every_round_is_one_batch():
    sample, b = scaled("Rat43")
    batches = []
    whole = sample.evaluate
    sample.evaluate = lambda vectors: batches.append(len(vectors)) or whole(vectors)
    sample.errors(b, profile=True)
    assert batches[0] == 2 * 4
    assert batches[1] == 2 * 4 * (1 + 4)
    assert len(batches) < 12


def test_beside_a_constraint_slopes_come_from_its_inner_side():
    """Each end lies on a constraint itself, so that no place for a slope is allowed on one of the sides."""
    sample = line()
    x = fit(sample, [0, 0])
    plain = sample.errors(x, profile=True)
    lower, upper = ends(plain, "a")
    near = Sample(Space({"a": (-10, 10), "b": (-10, 10)}, [f"a <= {upper + 1e-6!r}"]), sample.residuals)
    assert ends(near.errors(x, profile=True), "a") == pytest.approx((lower, upper), abs=1e-3 * plain["a"].error)
    steep = Sample(sample.space, lambda p: sample.residuals(p) if p[0] <= upper + 1e-6 else [math.nan] * 5)
    assert ends(steep.errors(x, profile=True), "a") == pytest.approx((lower, upper), abs=2e-3 * plain["a"].error)


FINE = {"xatol": 1e-9}


@pytest.mark.parametrize("as_value", [False, True])
@pytest.mark.parametrize("constraint", ["a + b <= 2.5", "a * a + b * b <= 4", "a + b <= 3.2"])
def test_intervals_within_a_constraint_are_those_of_a_brute_search_within_it(constraint, as_value):
    from scipy.optimize import brentq, minimize_scalar

    sample, x = at_constraint(constraint, as_value)
    lowest = sample.outcome(x).cost
    interval = sample.errors(x, profile=True)["a"].interval

    def rise(a: float) -> float:
        top = brentq(lambda b: ROOM[constraint](a, b), 0, 10)
        least = minimize_scalar(lambda b: sample.outcome([a, b]).cost, bounds=(0, top), method="bounded", options=FINE)
        return float(least.fun) - lowest

    assert rise(interval.lower) == pytest.approx(1, abs=3e-3)
    assert rise(interval.upper) == pytest.approx(1, abs=3e-3)


def test_an_interval_ends_at_a_constraint_that_nothing_gives_way_to():
    sample, x = at_constraint("a <= 0.5")
    interval = sample.errors(x, profile=True)["a"].interval
    assert (interval.upper, interval.upper_note) == (None, "at constraint wall")
    assert interval.lower is not None


def test_where_the_number_of_residuals_changes_on_the_way_it_is_a_sentence():
    sample, b = scaled("Misra1a")
    cliff = b[0] + 0.4 * sample.errors(b)["x0"].error
    ragged = Sample(sample.space, lambda p: sample.residuals(p)[: 14 if p[0] < cliff else 9])
    errors = ragged.errors(b, profile=True)
    assert errors["x0"].interval.upper_note == "before it, evaluations fail or their values jump"
    said = "evaluations for the profiles failed, the first: there are 9 residuals there, but 14 at the best candidate"
    assert errors.notes == [said]


def test_ends_along_a_bent_valley_that_nothing_ends_are_bounds():
    """a exp(-(x + late) / tau): only a exp(-late / tau) is known, so one ends where the other is at its bound."""
    x = np.linspace(0, 4, 15)
    y = 5 * np.exp(-x / 1.7) + 0.1 * np.cos(9 * x)
    space = Space({"a": (0, 100), "late": (-5, 5), "tau": (0.1, 10)})
    sample = Sample(space, lambda p: (p[0] * np.exp(-(x + p[1]) / p[2]) - y) / 0.1)
    best = fit(sample, [1.7, -1.7, 1.6])
    errors = sample.errors(best, profile=True)
    assert (errors["a"].note, errors["late"].note) == ("not determined", "not determined")
    assert (errors["a"].interval.upper_note, errors["late"].interval.lower_note) == ("at bound", "at bound")
    assert errors["late"].interval.upper_note == "at bound"
    assert rise_at(sample, best, 0, errors["a"].interval.lower) == pytest.approx(1, abs=3e-3)


def hill(seed: int = 0) -> tuple[Sample, list[float]]:
    """A strongly curved model: six doses, their errors 0.4. Another seed: with slightly different data."""
    dose, y = np.array([0.3, 0.6, 1, 1.8, 3, 5]), np.array([0.57, 1.46, 2.26, 3.72, 5.28, 6.72])
    y *= 1 + (seed > 0) * np.random.default_rng(seed).uniform(-0.02, 0.02, 6)
    space = Space({"top": (0, 1000), "half": real(0.01, 1000, "log"), "n": (0.1, 10)})
    sample = Sample(space, lambda p: (p[0] * dose ** p[2] / (p[1] ** p[2] + dose ** p[2]) - y) / 0.4)
    return sample, fit(sample, [10, 2.8, 1.2])


def assert_ends_are_right(residual: Sample, best: list[float], errors: Errors) -> None:
    """They are on the target, or the profile is below it at the bound."""
    delta = NormalDist().inv_cdf((1 + errors.confidence) / 2) ** 2
    for i, (p, parameter) in enumerate(zip(errors.parameters, residual.space.core.parameters, strict=True)):
        for end, note, bound in (
            (p.interval.lower, p.interval.lower_note, parameter.lower),
            (p.interval.upper, p.interval.upper_note, parameter.upper),
        ):
            if end is None:
                assert note == "at bound", p.name
                assert rise_at(residual, best, i, bound) < delta
            else:
                assert rise_at(residual, best, i, end) == pytest.approx(delta, rel=4e-3), p.name


@pytest.mark.parametrize(("as_value", "confidence"), [(False, ONE_SIGMA), (False, 0.95), (True, ONE_SIGMA)])
def test_ends_of_a_strongly_curved_model_are_found(as_value, confidence):
    residual, best = hill()
    sample = Sample(residual.space, residual.residuals, as_value=as_value)
    assert_ends_are_right(residual, best, sample.errors(best, profile=True, confidence=confidence))


def test_no_end_in_a_long_flat_valley_is_too_early():
    """The lower end of n lies far down such a valley, where the slope is small long before its floor is reached."""
    delta = NormalDist().inv_cdf((1 + 0.95) / 2) ** 2
    found = 0
    for seed in range(1, 9):
        residual, best = hill(seed)
        end = residual.errors(best, profile=True, confidence=0.95)["n"].interval.lower
        found += end is not None
        assert end is None or rise_at(residual, best, 2, end) == pytest.approx(delta, rel=4e-3), seed
    assert found >= 6, "a search may be given up, but rarely"


@pytest.mark.parametrize("confidence", [0.9, pytest.param(0.95, marks=pytest.mark.slow)])
def test_no_end_of_a_value_is_too_early_either(confidence):
    """There BFGS alone takes the slope of such a valley for its floor."""
    delta = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    found = 0
    for seed in (9, 10, 12, 15, 16, 17, 18, 22):
        residual, best = hill(seed)
        errors = Sample(residual.space, residual.residuals, as_value=True).errors(
            best, profile=True, confidence=confidence
        )
        for i, p in enumerate(errors.parameters):
            for end, note in ((p.interval.lower, p.interval.lower_note), (p.interval.upper, p.interval.upper_note)):
                assert note if end is None else rise_at(residual, best, i, end) == pytest.approx(delta, rel=4e-3), seed
                found += end is not None
    assert found >= 28, "of 48; a search may be given up, but not most of them"


@pytest.mark.parametrize("seed", range(4))
def test_ends_of_a_strongly_curved_model_do_not_depend_on_roundings(seed):
    residual, best = hill()
    random = np.random.default_rng(seed)
    rough = Sample(residual.space, lambda p: residual.residuals(p) * random.uniform(1 - 1e-13, 1 + 1e-13, 6))
    assert_ends_are_right(residual, best, rough.errors(best, profile=True, confidence=0.95))


BANANA = Sample(Space({"x": (-5, 5), "y": (-5, 25)}), lambda p: [10 * (p[1] - p[0] ** 2), 1 - p[0]])
RING = Sample(Space({"x": (-3, 3), "y": (-3, 3)}), lambda p: [(p[0] ** 2 + p[1] ** 2 - 1) / 0.1, p[0] - 0.5])
WAVE = Sample(Space({"a": (-5, 5), "b": (-8, 8)}), lambda p: [(p[0] - math.sin(2 * p[1])) / 0.1, p[1] / 1.5])
BALL = Sample(
    Space(dict.fromkeys("xyz", (-3, 3))),
    lambda p: [(p[0] ** 2 + p[1] ** 2 + p[2] ** 2 - 1) / 0.1, p[0] - 0.5, (p[1] - 0.4) / 0.7],
)
TWO_BANANAS = Sample(
    Space({"x": (-5, 5), "y": (-5, 5), "z": (-5, 25)}),
    lambda p: [10 * (p[1] - p[0] ** 2), 1 - p[0], 10 * (p[2] - p[1] ** 2), 1 - p[1]],
)
TURNS = {
    "banana": (BANANA, [1.0, 1.0]),
    "ring": (RING, [0.5, 0.75**0.5]),
    "wave": (WAVE, [0.0, 0.0]),
    "ball": (BALL, [0.5, 0.4, 0.59**0.5]),
    "two bananas": (TWO_BANANAS, [1.0, 1.0, 1.0]),
}


@pytest.mark.parametrize("confidence", [0.3, ONE_SIGMA, 0.95, 0.99])
@pytest.mark.parametrize("name", TURNS)
def test_ends_are_found_where_the_valley_turns_round(name, confidence):
    """There residuals and their curvature are great, so that Gauss and Newton's steps diverge."""
    sample, best = TURNS[name]
    assert_ends_are_right(sample, best, sample.errors(best, profile=True, confidence=confidence))


@pytest.mark.parametrize("confidence", [ONE_SIGMA, 0.95])
def test_a_ring_ends_where_all_of_it_is_above_the_target(confidence):
    """Going down in y the profile rises, comes back to 0 on the other side, and then leaves."""
    delta = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    x, y = np.linspace(-1.5, 1.5, 3001)[:, None], np.linspace(-1.3, 1.3, 2601)
    inside = y[(((x**2 + y**2 - 1) / 0.1) ** 2 + (x - 0.5) ** 2 <= delta).any(axis=0)]
    found = ends(RING.errors([0.5, 0.75**0.5], profile=True, confidence=confidence), "y")
    assert found == pytest.approx((inside.min(), inside.max()), abs=1.5e-3)


def test_where_the_valley_turns_round_an_end_takes_few_evaluations():
    sample = Sample(BANANA.space, BANANA.residuals)
    sample.errors([1.0, 1.0], profile=True, confidence=0.95)
    assert len(sample.calls) < 150


def test_ends_of_a_value_are_right_or_none():
    """BFGS alone takes Rat43's valley for narrow, and its floor for reached."""
    residual, b = scaled("Rat43")
    sample = Sample(residual.space, residual.residuals, as_value=True)
    errors = sample.errors(b, profile=True, confidence=0.997)
    delta = NormalDist().inv_cdf((1 + 0.997) / 2) ** 2
    for i, p in enumerate(errors.parameters):
        for end in (p.interval.lower, p.interval.upper):
            assert end is None or rise_at(residual, b, i, end) == pytest.approx(delta, rel=5e-3), p.name


def test_it_is_said_by_how_much_they_rise_and_that_they_do_not_know_s():
    sample = line()
    errors = sample.errors(fit(sample, [0, 0]), profile=True, confidence=0.95)
    assert (
        "At the ends of a profile interval, χ² is larger by 3.841, with the other parameters fitted again. The "
        "intervals are not multiplied by S."
    ) in errors.lines


@pytest.mark.parametrize("as_value", [False, True])
def test_beyond_a_limit_there_is_no_lower_minimum_and_nobody_advises_to_go_there(as_value):
    def residuals(x):
        return [10 * (x[0] - 2), x[0] + x[1] - 1]

    space, limit = Space([(0, 3), (-5, 5)]), lambda x: max(0.0, x[0] - 1.9)
    sample = Sample(space, residuals, as_value=as_value, violation=limit)
    errors = sample.errors([1.8999999, -0.8999999], profile=True)
    assert errors.lower_minimum is None
    assert ends(errors, "x0")[0] == pytest.approx(2 - math.sqrt(0.02), rel=1e-4)
    text = " ".join(errors.notes)
    assert "the fit lies at a limit: by its derivatives the value would fall by about 1 without it" in text
    assert "the profiles reached a limit" in text
    assert "more evaluations" not in text
