"""Algorithms that a tuning does not measure, because the models predict that they are slow."""

import csv
import itertools
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from culmen.bench.collectives.measured import points_of
from culmen.bench.collectives.samples import Samples
from culmen.launch.mpi.collectives import DEFAULT, Algorithm
from culmen.model.measured import Place
from culmen.model.point_to_point import network
from culmen.model.selection import Selector
from culmen.tune.cluster import page
from culmen.tune.cluster.asked import earlier_ones
from culmen.tune.cluster.choices import tuned_from
from culmen.tune.cluster.measured import RACE, SLOW, file_of, without_slow
from culmen.tune.cluster.predicted import order_of, slow_in, slow_ones
from tuning_samples import measure, samples, write

STUDY = Path(__file__).parent.parent / "data/collective_study/collective_models.csv"
SIZE = 1024
MESSAGES = (0, 8, 64, 512, SIZE, 4096, 32768, 262144, 2**20)


def lines_of(over):
    """For each operation and algorithm of the study, or each mapping: upper end, intercept and slope of the lines."""
    out = defaultdict(list)
    with STUDY.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["x"] == over:
                line = tuple(float(row[name]) for name in ("segment_upper", "intercept_us", "slope_us_per_x"))
                out[row["operation"], row["algorithm"]].append(line)
    return dict(out)


def seconds(lines, x):
    _, intercept, slope = next(line for line in sorted(lines) if x <= line[0])
    return max(intercept + slope * x, 0.5) * 1e-6


STUDIED = lines_of("processes")
NETWORKS = {
    name: network({size: seconds(lines, size) for size in MESSAGES}, {})
    for (_, name), lines in lines_of("bytes").items()
}


def true_times(operation, ranks):
    return {name: seconds(lines, ranks) for (of, name), lines in STUDIED.items() if of == operation}


def left_out(operation, ranks, measured, net, rng):
    """The algorithms that are predicted to be slow, from times with an error of 10 %."""
    times = {
        name: {Place(n, SIZE): true_times(operation, n)[name] * np.exp(rng.normal(0, 0.1)) for n in measured}
        for name in true_times(operation, ranks)
    }
    selector = Selector(SimpleNamespace(of={("mpi", operation): times}), "mpi", operation, net)
    return {name for name, _ in slow_in(selector, selector, ranks, {(name, SIZE) for name in times})}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("operation", ["bcast", "reduce"])
def test_good_algorithms_of_a_published_study_are_always_measured(operation, seed):
    rng, slow = np.random.default_rng(seed), 0
    ways = [((2, 48), None), ((2, 8, 24, 48), None), ((2, 4, 8, 16, 32, 48), None)]
    ways += [((n,), net) for n in (2, 8) for net in NETWORKS.values()]
    for (measured, net), ranks in itertools.product(ways, range(3, 48, 4)):
        if ranks in measured:
            continue
        true, names = true_times(operation, ranks), left_out(operation, ranks, measured, net, rng)
        good = {name for name, t in true.items() if t < 1.05 * min(true.values())}
        assert not names & good, (ranks, measured)
        slow += len(names)
    assert slow > 5, "some are left out"


def test_most_numbers_come_after_a_smaller_and_a_larger_one():
    assert order_of([2, 3, 4, 5, 6, 7, 8]) == [2, 8, 4, 6, 3, 5, 7]
    assert order_of([4]) == [4]
    assert order_of([16, 2, 16]) == [2, 16]


def test_a_race_knows_the_races_before_it():
    races = [(name, ranks) for ranks in order_of([2, 4, 8]) for name in ("allreduce", "bcast")]
    assert earlier_ones(races, "allreduce", 2) == []
    assert earlier_ones(races, "bcast", 2) == []
    assert earlier_ones(races, "allreduce", 8) == ["allreduce-2", "bcast-2"]
    assert earlier_ones(races, "bcast", 4) == ["bcast-2", "bcast-8"]


def race(folder, ranks, slow_s):
    """The algorithm chain needs ``slow_s``, the others 1 µs or 2 µs."""
    whole = [samples(name, 8, s, number=6) for name, s in ((DEFAULT, 2e-6), ("binomial", 1e-6))]
    write(folder, "bcast", ranks, RACE, [*whole, samples("chain", 8, slow_s, number=1)])


@pytest.mark.parametrize(
    ("slow_s", "numbers", "expected"),
    [
        (3e-6, (2, 8), ["chain"]),
        (1.5e-6, (2, 8), []),
        (3e-6, (2,), []),  # nothing is predicted outside of the measured numbers
        (3e-6, (), []),
    ],
)
def test_an_algorithm_starts_unless_it_was_slow_with_fewer_and_with_more_ranks(tmp_path, slow_s, numbers, expected):
    for ranks in numbers:
        race(tmp_path, ranks, slow_s)
    points = points_of("bcast", [Algorithm(name, {}) for name in (DEFAULT, "binomial", "chain", "pipeline")], [8])
    races = [file_of("bcast", ranks, RACE, tmp_path) for ranks in (2, 8)]
    measured, slow = without_slow(points, "bcast", 4, races)
    assert [point.algorithm.name for point in slow] == expected
    assert len(measured) + len(slow) == len(points)


@pytest.mark.parametrize(("noise", "slow"), [(0.1, {("chain", 8)}), (2, set())])
def test_on_a_noisy_machine_all_algorithms_start(tmp_path, noise, slow):
    rng = np.random.default_rng(1)
    for ranks in (2, 8):
        points = []
        for name, s in ((DEFAULT, 1e-6), ("chain", 5e-6)):
            visits = [[float(s * np.exp(rng.normal(0, noise)))] for _ in range(10)]
            points.append(Samples(name, 8, visits, [False] * 10, True, ""))
        write(tmp_path, "bcast", ranks, RACE, points)
    races = [file_of("bcast", ranks, RACE, tmp_path) for ranks in (2, 8)]
    assert slow_ones({(DEFAULT, 8), ("chain", 8)}, "bcast", 4, races) == slow


def test_a_slow_algorithm_is_counted_and_not_lost(tmp_path):
    measure(tmp_path, "bcast", 4, [8])
    left_out = [samples("linear", 8, 0, SLOW), samples("pipeline", 8, 0, "it hung")]
    write(tmp_path, "bcast", 4, RACE, [samples(DEFAULT, 8, 2e-6), samples("chain", 8, 1e-6), *left_out])
    tuned = tuned_from([("bcast", 4)], tmp_path)
    assert tuned.slow == 1
    assert [key.algorithm for key in tuned.lost] == ["pipeline"]
    said = "culmen did not measure 1 combination of algorithm and point: the models of `culmen model` predict long"
    assert page.about_slow(tuned).startswith(said)
    assert "did not measure 1 combination" in page.tuning_page(tuned, "", "host")
