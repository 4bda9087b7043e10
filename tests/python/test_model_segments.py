"""Segmented linear models give back the coefficients from which points were made."""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from culmen.model.robust import Fit, fit
from culmen.model.segments import segmented, without_bend

STUDY = Path(__file__).parent.parent / "data/collective_study/collective_models.csv"
NOISE = 0.02  # relative
BYTES = np.array(sorted({2**k for k in range(23)} | {3 * 2**k for k in range(21)}), float)


class Known:
    """The coefficients of one algorithm, or of one mapping of two processes."""

    def __init__(self, rows):
        self.processes = rows[0]["x"] == "processes"
        self.upper, self.intercept, self.slope = (
            np.array([float(row[name]) for row in rows]) for name in ("segment_upper", "intercept_us", "slope_us_per_x")
        )
        self.breaks = list(self.upper[:-1])
        self.x = np.arange(2.0, 49.0) if self.processes else BYTES

    def times(self, rng, outliers=0.0):
        k = np.searchsorted(self.upper, self.x)
        y = (self.intercept[k] + self.slope[k] * self.x) * (1 + NOISE * rng.standard_normal(len(self.x)))
        slow = rng.random(len(self.x)) < outliers
        return np.where(slow, y * rng.uniform(1.5, 5, len(self.x)), y)

    def covered(self, found):
        """For each coefficient, whether it lies in its interval."""
        pairs = zip(found.segments, self.intercept, self.slope, strict=True)
        return [ok for s, a, b in pairs for ok in (s.intercept.contains(a), s.slope.contains(b))]


def known():
    groups = defaultdict(list)
    with STUDY.open(newline="") as file:
        for row in csv.DictReader(file):
            groups[row["operation"], row["algorithm"]].append(row)
    return {key: Known(rows) for key, rows in groups.items()}


KNOWN = known()


@pytest.mark.parametrize("outliers", [0.0, 0.05])
@pytest.mark.parametrize("key", KNOWN, ids="-".join)
def test_intervals_contain_the_published_coefficients_as_often_as_they_say(key, outliers):
    own, rng = KNOWN[key], np.random.default_rng(1)
    found = [
        own.covered(segmented(own.x, own.times(rng, outliers), own.breaks, own.processes, keep=True)) for _ in range(60)
    ]
    # The coefficients of one fit depend on each other, so 60 fits may count as little as 60 trials: 0.95 ± 4 × 0.028.
    assert np.mean(found) > 0.84


@pytest.mark.parametrize("outliers", [0.0, 0.05])
@pytest.mark.parametrize("name", ["core", "socket", "node"])
def test_the_break_of_a_published_latency_is_found_without_a_hint(name, outliers):
    own = KNOWN["point_to_point", name]
    at = own.x[own.x <= own.breaks[0]][-1]
    found = [segmented(own.x, own.times(np.random.default_rng(seed), outliers)) for seed in range(12)]
    right = [each for each in found if each.breaks == [at]]
    assert len(right) >= 8
    assert np.mean([own.covered(each) for each in right]) > 0.75


@pytest.mark.parametrize("guessed", [False, True], ids=["suggested", "guessed"])
@pytest.mark.parametrize("outliers", [0.0, 0.05])
@pytest.mark.parametrize("key", [key for key, own in KNOWN.items() if own.processes], ids="-".join)
def test_breaks_at_sockets_and_nodes_are_found_if_they_are_suggested(key, outliers, guessed):
    """The fit is then the one of which the intervals are tested above."""
    own, found = KNOWN[key], []
    for seed in range(6):
        y = own.times(np.random.default_rng(seed), outliers)
        tried = segmented(own.x, y, own.breaks, True, guessed=guessed)
        found.append(tried == segmented(own.x, y, own.breaks, True, keep=True))
    # Chance hides the breaks if it lowers the criterion by 10: very rarely.
    assert np.mean(found) > 0.5


@pytest.mark.parametrize("hints", [[], [12, 24, 36]], ids=["alone", "hints"])
def test_segments_that_noise_hides_do_no_harm(hints):
    own = KNOWN["bcast", "pipeline"]  # its slopes differ by 7 %
    found = [segmented(own.x, own.times(np.random.default_rng(s)), hints, True) for s in range(6)]
    assert all(len(each.segments) <= 4 for each in found)
    predicted = np.array([[each.at(x) for x in own.x] for each in found])
    exact = own.intercept + own.slope * own.x[:, None]
    right = exact[np.arange(len(own.x)), np.searchsorted(own.upper, own.x)]
    assert np.median(np.abs(predicted / right - 1)) < NOISE


X = np.arange(2.0, 49.0)


def noisy(y, seed):
    return y * (1 + NOISE * np.random.default_rng(seed).standard_normal(len(y)))


@pytest.mark.parametrize("continuous", [False, True])
def test_wrong_suggestions_give_way_to_a_clear_break(continuous):
    y = 3 + 2 * X + 3 * np.maximum(X - 20, 0)
    found = [segmented(X, noisy(y, seed), [12, 24, 36], continuous).breaks for seed in range(7)]
    assert np.median([len(breaks) for breaks in found]) == 1
    assert np.median([breaks[0] for breaks in found]) == pytest.approx(20, abs=2)


@pytest.mark.parametrize("continuous", [False, True])
def test_a_suggested_break_where_the_line_does_not_bend_is_harmless(continuous):
    y = 3 + 2 * X
    found = [segmented(X, noisy(y, seed), [12, 24, 36], continuous) for seed in range(7)]
    worst = [max(abs(each.at(x) / t - 1) for x, t in zip(X, y, strict=True)) for each in found]
    # A segment has at least 11 points, so the standard error at its end is 0.6 of the noise; 2 are 3.4 of these.
    assert np.median(worst) < 2 * NOISE


@pytest.mark.parametrize("continuous", [False, True])
def test_guessed_breaks_are_not_used_if_the_line_does_not_bend(continuous):
    y = 3 + 2 * X
    found = [segmented(X, noisy(y, seed), [12, 24, 36], continuous, guessed=True) for seed in range(9)]
    assert np.median([len(each.breaks) for each in found]) == 0
    worst = [max(abs(each.at(x) / t - 1) for x, t in zip(X, y, strict=True)) for each in found]
    # The standard error at the end of a line through 47 points is at most 0.4 of the noise; this is 2.5 of these.
    assert np.median(worst) < NOISE


@pytest.mark.parametrize("continuous", [False, True])
def test_breaks_at_which_no_bend_was_found_are_named(continuous):
    times = [noisy(3 + 2 * X + 3 * np.maximum(X - 24, 0), seed) for seed in range(9)]
    found = [segmented(X, y, [12, 24, 36], continuous) for y in times]
    named = [without_bend(X, y, each) for y, each in zip(times, found, strict=True)]
    assert all(each.breaks == [12, 24, 36] for each in found)
    assert not any(24 in breaks for breaks in named)  # the bend is a hundred times its error
    # If there is no bend, the criterion and both intervals show one in at most one of twenty fits or so.
    assert sum(12 in breaks for breaks in named) > 4
    assert sum(36 in breaks for breaks in named) > 4


@pytest.mark.parametrize("continuous", [False, True])
def test_a_suggestion_with_too_few_points_beside_it_is_not_used(continuous):
    found = segmented(X, noisy(3 + 2 * X, 1), [3, 24, 25], continuous)
    assert found.breaks == [24]


def test_of_too_many_suggestions_only_the_needed_ones_are_used():
    y = 3 + 2 * X + 6 * np.maximum(X - 24, 0)
    found = [segmented(X, noisy(y, seed), range(6, 48, 6), True).breaks for seed in range(7)]
    assert np.median([len(breaks) for breaks in found]) == 1
    assert np.median([breaks[0] for breaks in found]) == 24


def test_a_line_needs_no_break():
    x = np.arange(1.0, 40.0)
    for seed in range(10):
        y = (3 + 2 * x) * (1 + 0.05 * np.random.default_rng(seed).standard_normal(len(x)))
        assert len(segmented(x, y).segments) <= 2
    counts = [
        len(segmented(x, (3 + 2 * x) * (1 + 0.05 * np.random.default_rng(s).standard_normal(len(x)))).segments)
        for s in range(30)
    ]
    assert np.median(counts) == 1


def test_exact_points_give_exact_lines():
    x = np.arange(1.0, 21.0)
    y = np.where(x <= 8, 5 + x, 20 + 3 * x)
    found = segmented(x, y)
    assert found.breaks == [8.0]
    values = [(s.intercept.value, s.slope.value) for s in found.segments]
    assert values == [pytest.approx((5, 1)), pytest.approx((20, 3))]
    assert found.at(8) == pytest.approx(13)
    assert found.at(8.5) == pytest.approx((13 + 47) / 2)
    assert found.at(30) == pytest.approx(110)


def test_outliers_are_named_and_the_order_of_points_does_not_matter():
    rng = np.random.default_rng(3)
    x = np.arange(2.0, 32.0)
    y = (10 + 4 * x) * (1 + 0.01 * rng.standard_normal(len(x)))
    y[[4, 17]] *= 3
    shuffled = rng.permutation(len(x))
    found, other = segmented(x, y), segmented(x[shuffled], y[shuffled])
    assert [k for k, w in enumerate(found.weights) if w == 0] == [4, 17]
    assert found.outliers == other.outliers == 2
    assert other.segments == found.segments
    assert [found.weights[k] for k in shuffled] == list(other.weights)


def test_two_points_give_a_line_without_intervals():
    found = segmented([1, 3], [2, 6])
    assert found.segments[0].slope.value == pytest.approx(2)
    assert found.segments[0].slope.high == np.inf
    assert segmented([1, 3], [2, 6], continuous=True).segments[0].slope.value == pytest.approx(2)


@pytest.mark.parametrize("continuous", [False, True])
def test_breaks_without_points_between_them_are_not_kept(continuous):
    x = np.array([2.0, 4, 8, 16, 32, 48])
    found = segmented(x, 1 + x, [1, 5, 6, 24, 40, 60], continuous, keep=True)
    assert len(found.segments) == 3
    assert [s.slope.value for s in found.segments] == [pytest.approx(1)] * 3


def test_intervals_without_outliers_are_those_of_least_squares():
    rng = np.random.default_rng(4)
    x = np.linspace(0, 1, 400)
    design = np.stack([np.ones_like(x), x], axis=1)
    y = 1 + x + 0.1 * rng.standard_normal(len(x))
    found = fit(design, y, np.ones_like(x))
    expected = 0.1**2 * np.linalg.inv(design.T @ design)
    assert np.diag(found.covariance) == pytest.approx(np.diag(expected), rel=0.25)


@pytest.mark.parametrize(("freedom", "quantile"), [(1, 12.706), (2, 4.303), (10, 2.228), (30, 2.042)])
def test_intervals_are_those_of_a_table_of_student_s_t(freedom, quantile):
    known = Fit(np.array([5.0, 7.0]), np.array([[4.0, 1.0], [1.0, 9.0]]), freedom, np.ones(freedom + 2), 0.1)
    found = known.estimate(np.array([2.0, -1.0]))  # variance: 4 · 4 - 4 · 1 + 9 = 21
    assert found == pytest.approx((3, 3 - quantile * 21**0.5, 3 + quantile * 21**0.5), rel=2e-4)


def test_intervals_of_many_lines_contain_the_truth_as_often_as_they_say():
    rng, x = np.random.default_rng(8), np.linspace(1, 10, 40)
    design, exact = np.stack([np.ones_like(x), x], axis=1), 1 + x
    lines = [fit(design, exact * (1 + 0.02 * rng.standard_normal(len(x))), exact) for _ in range(1500)]
    found = np.mean([line.estimate(np.array([0.0, 1.0])).contains(1.0) for line in lines])
    assert found == pytest.approx(0.95, abs=4 * 0.0056)  # the standard deviation of 1500 trials
