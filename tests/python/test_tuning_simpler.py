"""Settings without effect do not stay in a recommendation, if runs show that this loses nothing."""

import math

import numpy as np
import pytest
from culmen.bench.verdict import verdict_of
from culmen.tune.command.effects import Effect
from culmen.tune.command.simpler import compared_with_best, simpler_than

import culmen

SPACE = {
    "order": culmen.categorical(["ijk", "ikj"]),
    "unroll": culmen.boolean(),
    "arenas": culmen.integer(1, 8),
    "tile": culmen.integer(1, 64, active_when="unroll == true"),
}
PRESENT = {"order": "ijk", "unroll": False, "arenas": 8}
BEST = {"order": "ikj", "unroll": False, "arenas": 3}


def effects(**matter):
    return [Effect(name, 2.0 if seen else 1.1, 1.0, 2.0, seen) for name, seen in matter.items()]


def space_with(*constraints):
    return culmen.Space(SPACE, list(constraints)).core


def test_what_does_not_matter_gets_its_present_value():
    found = simpler_than(BEST, PRESENT, effects(order=True, unroll=False, arenas=False), space_with())
    assert found.settings == {"order": "ikj", "unroll": False, "arenas": 8}
    assert found.dropped == ("arenas",)


def test_if_no_parameter_is_known_to_matter_the_largest_effect_stays():
    found = simpler_than(BEST, PRESENT, effects(order=False, arenas=False), space_with())
    assert (found.settings["order"], found.dropped) == ("ikj", ("arenas",))


def test_there_may_be_nothing_simpler():
    assert simpler_than(BEST, PRESENT, effects(order=True, arenas=True), space_with()) is None
    assert simpler_than(BEST, {**BEST, "arenas": 8}, effects(arenas=False), space_with()) is None
    assert simpler_than(BEST, PRESENT, [], space_with()) is None


def test_constraints_still_hold():
    bound = space_with("arenas < 8 or order == 'ijk'")
    assert simpler_than(BEST, PRESENT, effects(order=True, arenas=False), bound) is None


def test_a_parameter_on_which_others_depend_stays():
    best = {"order": "ikj", "unroll": True, "tile": 8, "arenas": 3}
    found = simpler_than(best, PRESENT, effects(order=True, unroll=False, tile=False, arenas=False), space_with())
    assert found.settings == {"order": "ikj", "unroll": True, "tile": 8, "arenas": 8}


def rounds(ratio, noise, seed, count=10):
    """Times with the present, the best, and the simpler settings."""
    draws = np.exp(noise * np.random.default_rng(seed).standard_normal((3, count)))
    return [list(row) for row in draws * np.array([[1.0], [0.7], [0.7 * ratio]])]


def test_simpler_settings_that_lose_nothing_replace_the_best():
    good = [compared_with_best(("a",), *rounds(1.0, 0.005, seed), False, 3).as_good for seed in range(100)]
    assert np.mean(good) > 0.95


def test_simpler_settings_that_lose_more_rarely_replace_the_best():
    """At a loss of 2 %, the bound of the interval is right in one of forty cases."""
    good = [compared_with_best(("a",), *rounds(1.0205, 0.01, seed), False, 3).as_good for seed in range(200)]
    assert np.mean(good) < 0.08


def test_noise_keeps_the_best_settings():
    kept = [compared_with_best(("a",), *rounds(1.0, 0.2, seed), False, 3) for seed in range(40)]
    assert np.mean([each.as_good for each in kept]) < 0.2
    assert all(each.verdict.low < each.verdict.high for each in kept)


def test_rates_are_judged_as_times_are():
    present, best, simpler = ([1 / time for time in times] for times in rounds(1.0, 0.005, 1))
    assert compared_with_best(("a",), present, best, simpler, True, 3).as_good


def test_equal_settings_are_recommended_no_more_often():
    """With no difference at all, neither the best nor the simpler settings are called better in more than 1 of 40."""
    claims = 0
    for seed in range(400):
        present, best, simpler = np.exp(0.05 * np.random.default_rng(seed).standard_normal((3, 10)))
        of_best = verdict_of(list(zip(present, best, strict=True)), False).is_better
        kept = compared_with_best(("a",), present, best, simpler, False, 3)
        assert of_best or not kept.as_good
        claims += of_best
    assert claims / 400 < 0.05


def test_simpler_settings_that_fail_do_not_replace_the_best():
    present, best, simpler = rounds(1.0, 0.001, 1)
    simpler[4] = math.nan
    assert not compared_with_best(("a",), present, best, simpler, False, 3).as_good
    assert compared_with_best(("a",), present[:2], best[:2], simpler[:2], False, 3).verdict is None


@pytest.mark.parametrize("gain", [0.02, 0.005])
def test_small_gains_are_not_given_away(gain):
    """A quarter of the gain is the most that may be lost."""
    lost = 1 + gain / 3
    present = np.full(10, 1.0) * np.exp(1e-5 * np.random.default_rng(1).standard_normal(10))
    best, simpler = np.full(10, 1 - gain), np.full(10, (1 - gain) * lost)
    assert not compared_with_best(("a",), list(present), list(best), list(simpler), False, 3).as_good
