"""Which algorithm of a nonblocking collective ran: Open MPI shows its messages."""

import itertools

import pytest
from culmen.bench.collectives.measured import is_verified, measure_points, points_of
from culmen.bench.collectives.messages import SENDS, sends
from culmen.bench.collectives.points import Protocol
from culmen.bench.session import Ranks
from culmen.launch.mpi import LauncherError, find_launcher
from harness import HANGS_S

COLLECTIVES = ("ibcast", "ireduce", "iallreduce", "iallgather", "iscan", "iexscan")
SIZES = [4, 64, 40000]


@pytest.fixture
def launcher():
    try:
        return find_launcher("openmpi")
    except LauncherError:
        pytest.skip("there is no Open MPI")


SLOW = [pytest.param(ranks, marks=pytest.mark.slow) for ranks in (2, 4, 6, 7)]


@pytest.mark.parametrize("ranks", [3, 5, 8, *SLOW])
def test_the_messages_of_each_algorithm_are_those_that_are_expected(launcher, ranks):
    known = launcher.mpi.collectives
    with Ranks(launcher, ranks, HANGS_S) as launched:
        for collective, size, root in itertools.product(COLLECTIVES, SIZES, (0, 1)):
            for algorithm in known.algorithms(collective, ranks)[1:]:
                communicator = launched.session.choose(collective, algorithm)
                _, shown = launched.session.time(collective, communicator, size, root, 3, 0.0)
                said = [each for each in shown if each.startswith(SENDS)]
                expected = sends(collective, algorithm.name, ranks, size, root)
                if expected:
                    assert said == [expected], (collective, algorithm.name, size, root)


def test_an_algorithm_that_the_mpi_replaces_is_unverified(launcher):
    known = launcher.mpi.collectives
    for collective, ranks in (("iallreduce", 5), ("iallgather", 3)):
        algorithms = known.algorithms(collective, ranks)
        points = points_of(collective, algorithms, [4, 4096])
        with Ranks(launcher, ranks, HANGS_S) as launched:
            measure_points(launched, collective, points, Protocol(repetitions=6), 1)
        verified = {
            (point.algorithm.name, point.size): is_verified(point, collective, known.refuses) for point in points
        }
        replaced = (
            {("rabenseifner", 4)}
            if collective == "iallreduce"
            else {("recursive_doubling", 4), ("recursive_doubling", 4096)}
        )
        assert {place for place, is_right in verified.items() if not is_right} == replaced
