"""Figures of the report: which points they keep, and their scales."""

import math

import numpy as np
import pytest
from culmen.report import thinning
from culmen.report.convergence import steps
from culmen.report.scales import unit, value_axis
from culmen.store.table import Parameter


@pytest.mark.parametrize("n", [0, 1, 5, 99, 100, 1000, 12_345])
def test_an_envelope_keeps_the_ends_the_least_and_the_greatest(n):
    values = np.random.default_rng(n).normal(size=n)
    kept = thinning.envelope(values, 100)
    assert len(kept) <= 102
    assert (np.diff(kept) > 0).all()
    if n:
        assert {0, n - 1, int(values.argmin()), int(values.argmax())} <= set(kept.tolist())


def test_an_envelope_looks_past_nan():
    values = np.full(1000, np.nan)
    values[[400, 401]] = 3.0, -2.0
    assert {400, 401} <= set(thinning.envelope(values, 40).tolist())


def test_the_best_are_never_thinned_away():
    rng = np.random.default_rng(2)
    x, merit = rng.uniform(size=10_000), rng.normal(size=10_000)
    kept = thinning.best_and_some(x, merit, 600)
    assert set(np.argsort(merit)[:200].tolist()) <= set(kept.tolist())
    assert len(kept) <= 800


def test_steps_keep_the_first_and_the_last():
    x, best, left_out = steps(np.arange(1.0, 20_001), -np.arange(20_000.0))
    assert (x[0], x[-1], best[-1], left_out) == (1, 20_000, -19_999, True)


def test_positive_values_over_decades_are_logarithmic_and_outliers_are_told():
    assert value_axis(np.array([1e-9, 1.0, 1e3]))[0]["type"] == "log"
    shown, notes = value_axis(np.append(np.linspace(-1, 1, 99), 1e9))
    assert shown["range"][1] < 2
    assert notes == ["1 value lies outside the shown range (-1 to 1e+09); double-click the figure to show all."]
    assert value_axis(np.array([math.nan, 1.7e308, 1.0])) == ({}, ["1 value beyond ±1e+300 cannot be drawn."])


def test_unit_follows_the_parameters_scale():
    assert unit(Parameter("t", "real", 1e-6, 1.0, "log"), np.array([1e-6, 1e-3, 1.0])).tolist() == [0, 0.5, 1]
    wide = Parameter("w", "real", -1.7e308, 1.7e308)
    assert unit(wide, np.array([-1.7e308, 0.0, 1.7e308])).tolist() == [0, 0.5, 1]
