"""The statistics of ``culmen bench collectives``: intervals, warm-up, the number of visits."""

import math

import numpy as np
import pytest
from culmen.bench.collectives.measured import Starts
from culmen.bench.collectives.points import Point, Protocol
from culmen.bench.sampling import LEAST_VISITS, interval, warm_up
from culmen.launch.mpi.collectives import Algorithm


def noisy(rng, visits, calls=5, shift=0.05):
    """Visits whose calls share a disturbance; the median of all is 1."""
    return [list(np.exp(rng.normal(0, shift) + rng.normal(0, 0.01, calls))) for _ in range(visits)]


def test_intervals_enclose_the_median_as_often_as_they_say():
    rng = np.random.default_rng(5)
    found = [interval(noisy(rng, visits)) for visits in (LEAST_VISITS, 9, 20, 45) for _ in range(300)]
    inside = np.mean([each.low <= 1 <= each.high for each in found])
    assert inside > 0.93  # the binomial spread of 1200 trials around 0.95 is 0.0063
    assert np.mean([each.relative for each in found]) < 0.06


def test_the_median_and_its_interval_are_of_the_same_values():
    """One visit has most of the calls, and it is slow."""
    found = interval([[1.0 + k / 100] for k in range(8)] + [[9.0] * 100])
    assert found == (1.04, 1.01, 1.07)


def test_few_visits_give_no_interval():
    assert math.isinf(interval([[1.0]] * (LEAST_VISITS - 1)).relative)


def test_slow_first_visits_are_warm_up():
    rng = np.random.default_rng(6)
    for cold in (3, 6):
        visits = [[3.0 - 0.2 * i] * 5 for i in range(cold)] + noisy(rng, 40)
        assert cold <= warm_up(visits) <= cold + 4
    assert np.mean([warm_up(noisy(rng, 40)) for _ in range(50)]) < 12
    assert warm_up(noisy(rng, LEAST_VISITS)) == 0


def test_a_point_is_measured_until_its_median_is_exact_or_its_time_is_over():
    protocol = Protocol(interval=0.01, budget_s=1.0)
    point = Point(algorithm=Algorithm("a", {}), size=8)
    assert not point.has_enough(protocol)
    point.visits = [[1.0], [1.1], [0.9], [1.0], [1.2], [0.8]]
    assert not point.has_enough(protocol)
    point.spent_s = 2.0
    assert point.has_enough(protocol)
    assert point.has_enough(Protocol(interval=0.5))
    assert not point.has_enough(Protocol(repetitions=7))
    assert point.next_calls(Protocol(repetitions=7)) == 1
    point.visits[-1] = [1e-6]
    assert (point.next_calls(Protocol()), point.next_calls(Protocol(most_calls=16))) == (100, 16)
    point.visits.append([-1.0])
    assert not point.has_enough(Protocol(repetitions=7)), "a rank was late"
    point.visits.append([1e-5, 4e-3, 4e-3, 1e-5])
    assert point.next_calls(Protocol()) == 100, "calls that another program interrupted"


@pytest.mark.parametrize("repetitions", [6, 7, 20, 100, 403])
@pytest.mark.parametrize("call_s", [1e-6, 1e-3, 1.0])
def test_a_number_of_repetitions_gives_enough_visits_for_an_interval(repetitions, call_s):
    point, protocol = Point(), Protocol(repetitions=repetitions)
    while not point.has_enough(protocol):
        point.visits.append([call_s] * point.next_calls(protocol))
    assert sum(map(len, point.visits)) == repetitions
    assert len(point.visits) >= LEAST_VISITS
    assert point.interval.exists


def test_the_warm_up_is_not_among_the_repetitions():
    rng = np.random.default_rng(7)
    point, protocol = Point(), Protocol(repetitions=60)
    while not point.has_enough(protocol):
        slow = 2.0 if len(point.visits) < 4 else 1.0
        point.visits.append(list(slow * np.exp(rng.normal(0, 0.01, point.next_calls(protocol)))))
    kept = [times for times, cold in zip(point.visits, point.cold_visits(), strict=True) if not cold]
    assert len(kept) <= len(point.visits) - 4
    assert 60 <= sum(map(len, kept)) <= 65


def test_ranks_that_are_late_too_often_start_behind_a_barrier():
    starts, point = Starts(windows=True), Point(algorithm=Algorithm("a", {}), size=8)
    for _ in range(30):
        starts.note(point, [1e-5] * 5)
    assert starts.windows
    assert point.window_s == pytest.approx(4e-5)
    for _ in range(31):
        starts.note(point, [-1e-5] * 5)
        assert point.window_s <= 1.3e-4
    assert not starts.windows


def test_the_interval_is_looked_at_less_often_the_more_visits_there_are(monkeypatch):
    looks = []
    monkeypatch.setattr("culmen.bench.sampling.warm_up", lambda visits: looks.append(len(visits)) or 0)
    point = Point()
    for k in range(1000):
        point.visits.append([1.0 + (k * 0.618) % 1])
        assert not point.has_enough(Protocol(interval=1e-6, budget_s=1.0))
    assert len(looks) < 80
    assert looks[-1] > 900
    point.spent_s = 1.0
    assert point.has_enough(Protocol(interval=1e-6, budget_s=1.0))
