"""The race of algorithms and the comparison with the MPI's own choice, with simulated times."""

import random

import numpy as np
import pytest
from culmen.bench.collectives.measured import all_that_need_more, points_of
from culmen.bench.collectives.points import Point, Protocol
from culmen.launch.mpi.collectives import DEFAULT, Algorithm
from culmen.tune.cluster import pairs
from culmen.tune.cluster.pairs import LAUNCHES, LEAST_GAIN, VISITS, Gain, are_faster, confidence_of, gain_of, next_pairs
from culmen.tune.cluster.race import Race

SIZES = (8, 64, 512, 4096, 32768)
NAMES = (DEFAULT, "chain", "ring", "linear", "tree", "pipeline")
PROTOCOL = Protocol(0.1, 0.3)


def simulate(points: list[Point], next_round, seconds, protocol=PROTOCOL, seed: int = 1) -> int:
    """As ``measure_points`` does. ``seconds``: of a call of a point. Returns the number of calls."""
    rng = random.Random(seed)  # noqa: S311 - an order, no secret
    noise, calls = np.random.default_rng(seed), 0
    for _ in range(10_000):
        active = next_round(points, protocol, rng)
        if not active:
            return calls
        for point in active:
            n = point.next_calls(protocol)
            times = seconds(point) * np.exp(noise.normal(0, 0.1, n)) * np.where(noise.random(n) < 0.05, 3, 1)
            point.visits.append([float(t) for t in times])
            point.spent_s += float(sum(times))
            calls += n
    raise AssertionError("the race does not end")


def speed(point: Point) -> float:
    """ring is the best of the large messages, tree that of the small ones."""
    usual = {DEFAULT: 1.3, "chain": 4, "ring": 3 if point.size < 512 else 1, "linear": 6, "pipeline": 1.5}
    return 20e-6 * (1 + point.size / 1000) * usual.get(point.algorithm.name, 1 if point.size < 512 else 3)


def a_race() -> list[Point]:
    return points_of("bcast", [Algorithm(name, {}) for name in NAMES], SIZES)


@pytest.mark.parametrize("seed", range(5))
def test_the_fastest_wins_with_a_part_of_the_calls(seed):
    points, whole = a_race(), a_race()
    calls = simulate(points, Race(points), speed, seed=seed)
    everything = simulate(whole, all_that_need_more, speed, seed=seed)
    assert calls < 0.7 * everything
    for size in SIZES:
        there = {p.algorithm.name: p.interval.median for p in points if p.size == size and p.visits}
        assert DEFAULT in there
        assert min(there, key=there.__getitem__) == ("tree" if size < 512 else "ring")


def test_the_hopeless_do_not_start_between_two_sizes_where_they_were():
    points = a_race()
    simulate(points, Race(points), speed)
    calls = {(p.algorithm.name, p.size): sum(map(len, p.visits)) for p in points}
    assert calls["linear", 64] == 0
    assert calls["linear", 512] == 3
    assert calls["ring", 64] > 0, "it is the best of a neighbour"


def test_an_algorithm_that_is_out_is_not_needed_for_the_end():
    points = a_race()
    for point in points:
        if point.algorithm.name == "ring":
            point.unavailable = "it is refused"
        if point.algorithm.name == "tree":
            point.give_up("it hung")
    simulate(points, Race(points), speed)
    assert not any(p.visits for p in points if p.algorithm.name in ("ring", "tree"))


def test_only_visits_of_the_same_rounds_are_compared():
    """The machine becomes slower from round to round, and a rank was late in the first call of one algorithm."""
    points = points_of("bcast", [Algorithm(name, {}) for name in (DEFAULT, "tree", "ring")], SIZES[:1])
    for point, usual in zip(points, (1.3, 1, 0.99), strict=True):
        point.visits = [[usual * 1e-6 * 1.2**k] for k in range(5)]
    ring = points[-1]
    ring.visits[0][0] *= -1
    assert ring in Race(points)(points, PROTOCOL, random.Random(1))  # noqa: S311 - an order, no secret


def test_pairs_are_made_in_turns():
    points = points_of("bcast", [Algorithm(DEFAULT, {}), Algorithm("ring", {})], SIZES)
    rng = random.Random(3)  # noqa: S311 - an order, no secret
    order = []
    while there := next_pairs(points, PROTOCOL, rng):
        for first, second in zip(there[::2], there[1::2], strict=True):
            assert first.size == second.size
            order.append(first.algorithm.name)
        for point in there:
            point.visits.append([1.0])
    assert {len(point.visits) for point in points} == {VISITS}
    assert 0.25 < order.count(DEFAULT) / len(order) < 0.75


def gains(factor: float, seed: int, noise: float = 0.1, of_launch: float = 0.0) -> Gain:
    rng = np.random.default_rng(seed)
    launches = []
    for _ in range(LAUNCHES):
        own = np.exp(rng.normal(0, noise, VISITS))
        other = np.exp(rng.normal(rng.normal(0, of_launch), noise, VISITS)) / factor
        launches.append(list(zip(own, other, strict=True)))
    return gain_of(launches)


def test_a_clear_gain_is_found_with_its_interval():
    found = [gains(1.5, seed) for seed in range(200)]
    assert all(are_faster(found))
    assert sum(each.low <= 1.5 <= each.high for each in found) >= 180, "95 % of 200, less four standard errors"


def test_a_gain_that_is_certain_but_small_changes_nothing():
    sure = [gain_of([[(factor, 1.0)] * VISITS] * LAUNCHES) for factor in (0.999 * LEAST_GAIN, 1.001 * LEAST_GAIN)]
    assert are_faster(sure) == [False, True]


def test_without_a_difference_the_default_is_kept():
    for seed in range(20):
        table = [gains(1.0, 1000 * seed + k) for k in range(50)]
        assert sum(are_faster(table)) <= 2


@pytest.mark.parametrize("of_launch", [0.02, 0.05, 0.10])
def test_the_interval_holds_also_if_launches_differ(of_launch):
    found = [gains(1.1, seed, 0.1, of_launch) for seed in range(400)]
    held = sum(each.low <= 1.1 <= each.high for each in found)
    assert held >= 362, "95 % of 400, less four standard errors"


@pytest.mark.parametrize("of_launch", [0.02, 0.05, 0.10])
def test_tables_without_a_difference_keep_the_default_also_if_launches_differ(of_launch):
    tables = [[gains(1.0, 1000 * seed + k, 0.1, of_launch) for k in range(20)] for seed in range(100)]
    assert sum(any(are_faster(table)) for table in tables) <= 13, "5 % of 100, and four standard errors"


@pytest.mark.parametrize("of_launch", [0.02, 0.05, 0.10])
def test_few_choices_are_false_also_if_launches_differ(of_launch):
    """Half of the algorithms are as fast as the default, half are 1.3 times faster."""
    right = wrong = 0
    for seed in range(20):
        table = [gains(1.3 if k % 2 else 1.0, 100 * seed + k, 0.1, of_launch) for k in range(40)]
        chosen = are_faster(table)
        right += sum(chosen[1::2])
        wrong += sum(chosen[::2])
    assert right >= (0.9 if of_launch < 0.1 else 0.5) * 400
    assert wrong <= pairs.FALSE_DISCOVERIES * (right + wrong) + 4


def test_intervals_of_chosen_gains_hold_although_they_were_chosen():
    """Of weak gains, those are chosen that look large; intervals of 95 % hold less often."""
    held, held_95, chosen = 0, 0, 0
    for seed in range(60):
        table = [gains(1.04, 1000 * seed + k, 0.1) for k in range(40)]
        faster = [gain for gain, is_faster in zip(table, are_faster(table), strict=True) if is_faster]
        wider = [gain.with_interval(confidence_of(len(faster), len(table))) for gain in faster]
        chosen += len(faster)
        held += sum(each.low <= 1.04 <= each.high for each in wider)
        held_95 += sum(each.low <= 1.04 <= each.high for each in faster)
        assert all(each.low > 1 for each in wider)
    assert chosen > 100
    assert held >= 0.95 * chosen - 4 * (0.95 * 0.05 * chosen) ** 0.5
    assert held > held_95


def test_an_interval_of_the_same_confidence_is_the_same():
    found = gains(1.5, 1)
    again = found.with_interval(0.95)
    assert (again.low, again.high) == (pytest.approx(found.low), pytest.approx(found.high))
    wider = found.with_interval(0.99)
    assert wider.low < found.low and wider.high > found.high


def test_more_pairs_of_few_launches_prove_no_more():
    launches = [[(factor, 1.0)] for factor in (1.02, 1.20, 1.01, 1.15, 1.30)]
    few, many = gain_of(launches), gain_of([pairs * 100 for pairs in launches])
    assert (few.low, few.high, few.p) == (many.low, many.high, many.p)


def test_one_launch_has_no_interval():
    found = gain_of([[(1.5, 1.0)] * VISITS])
    assert (found.low, found.high, found.p) == (0, np.inf, 1)


def test_launches_that_contradict_each_other_keep_the_default():
    fast, slow = [(1.5, 1.0)] * VISITS, [(1.0, 1.1)] * VISITS
    assert not any(are_faster([gain_of([fast, slow] * (LAUNCHES // 2))]))
    assert all(are_faster([gain_of([fast] * LAUNCHES)]))


def test_a_launch_without_pairs_keeps_the_default():
    fast = [(1.5, 1.0)] * VISITS
    assert not any(are_faster([gain_of([*[fast] * (LAUNCHES - 1), []])]))


def test_nothing_measured_is_no_gain():
    assert gain_of([]) == Gain(1.0, 0.0, np.inf, 1.0, 0)
    assert are_faster([]) == []
