"""Samples of launches, as ``culmen tune cluster`` writes them."""

from culmen.bench.collectives.samples import Header, Samples, write_samples
from culmen.launch.mpi.collectives import DEFAULT
from culmen.tune.cluster.measured import file_of
from culmen.tune.cluster.pairs import LAUNCHES, VISITS

VERSION = "Open MPI 4.1.4"


def samples(algorithm, size, seconds, unavailable="", number=VISITS):
    """``number``: of visits."""
    visits = [] if unavailable else [[seconds, seconds]] * number
    return Samples(algorithm, size, visits, [False] * len(visits), not unavailable, unavailable)


def write(folder, collective, ranks, launch, points, version=VERSION, nodes=1, ppn=0, partition=""):
    header = Header("openmpi", version, collective, ranks, nodes, ppn, partition)
    write_samples(file_of(collective, ranks, launch, folder), header, points)


def measure(folder, collective, ranks, sizes, candidate="chain", **header):
    """The candidate is twice as fast as the default, at all sizes."""
    points = [samples(name, size, s) for size in sizes for name, s in ((DEFAULT, 2e-6), (candidate, 1e-6))]
    for launch in range(LAUNCHES + 1):
        write(folder, collective, ranks, launch, points, **header)
