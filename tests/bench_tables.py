"""Plans, and tables of times, for the tests of ``culmen bench collectives``."""

import numpy as np
import pytest
from culmen.bench.collectives import figures, samples, winners
from culmen.bench.collectives.plan import Plan
from culmen.bench.collectives.samples import Header, Samples, Table
from culmen.launch.mpi import Launcher, load
from culmen.launch.mpi.collectives import DEFAULT

from culmen import InputError

OPENMPI = next(mpi for mpi in load() if mpi.title == "Open MPI 4")


def complaint(call, *arguments):
    with pytest.raises(InputError) as raised:
        call(*arguments)
    return str(raised.value)


def plan(mpi=OPENMPI, **given):
    usual = {"collectives": ("bcast",), "ranks": (2, 4), "sizes": (8,)}
    return Plan(Launcher("mpirun", mpi), "default", **{**usual, **given})


def table_of(tmp_path, times, collective="bcast", ranks=4, verified=(), unavailable=()):
    """``times``: by algorithm and size, of visits without noise but for 1 %."""
    rng = np.random.default_rng(7)
    points = [
        Samples(
            name,
            size,
            [[t * f for f in rng.normal(1, 0.01, 3)] for _ in range(12)],
            [False] * 12,
            name not in verified,
            "",
        )
        for (name, size), t in times.items()
    ]
    points += [Samples(name, 8, [], [], False, "cannot run") for name in unavailable]
    path = tmp_path / f"{collective}-{ranks}.csv"
    samples.write_samples(path, Header("openmpi", "Open MPI 4.1.4", collective, ranks), points)
    return path


TIMES = {
    (DEFAULT, 8): 1e-5, ("chain", 8): 2e-5, ("binomial", 8): 0.5e-5,
    (DEFAULT, 16): 1e-5, ("chain", 16): 2e-5, ("binomial", 16): 0.4e-5,
    (DEFAULT, 32): 1e-5, ("chain", 32): 1.001e-5, ("binomial", 32): 3e-5,
}  # fmt: skip


def few_visits(tmp_path):
    """A table whose first point has no interval."""
    path = tmp_path / "bcast-4.csv"
    points = [Samples(DEFAULT, size, [[1e-5]] * n, [False] * n, True, "") for size, n in ((8, 1), (16, 9))]
    samples.write_samples(path, Header("openmpi", "4", "bcast", 4), points)
    return Table([path])


def page_of(found):
    return figures.collectives_page(found, winners.winners(found))


def figures_of(found, baseline=DEFAULT):
    return list(figures._figures(found, winners.winners(found, baseline), baseline))
