"""Tables of `culmen bench collectives` with known times."""

import numpy as np
from culmen.bench.collectives.samples import COLUMNS, Header, Samples, write_samples
from culmen.model.algorithms import model_of

ALPHA, BETA, GAMMA = 2e-6, 1e-9, 5e-10  # seconds, and seconds per byte
SIZES = [4**k for k in range(11)]
MPI, VERSION = "openmpi", "Open MPI 4.1.4"
BCAST = ("basic_linear", "pipeline", "binomial", "scatter_allgather_ring")


def send(size):
    return ALPHA + BETA * size


def exact(collective, algorithm, ranks, size):
    """Seconds, as the analytic model says."""
    return model_of(collective, algorithm)(ranks, size).time(send, GAMMA)


def write_table(
    path, ranks=(2, 4, 8, 16, 32), time_of=exact, noise=0.01, unverified=(), algorithms=BCAST, more=None, ppn=0
):
    """Six visits of two calls for each point. ``unverified``: algorithms. ``more``: by collective, algorithms. ``ppn``:
    the most ranks on a node; 0: all of them."""
    rng, parts = np.random.default_rng(7), []
    for collective, names in {"bcast": algorithms, **(more or {})}.items():
        for n in ranks:
            points = []
            for name in names:
                for size in SIZES:
                    times = time_of(collective, name, n, size) * (1 + noise * rng.standard_normal((6, 2)))
                    points.append(Samples(name, size, times.tolist(), [False] * 6, name not in unverified, ""))
            part = path.with_name(f"{collective}-{n}.part")
            each = min(n, ppn or n)
            write_samples(part, Header(MPI, VERSION, collective, n, -(-n // each), each), points)
            parts.append(part.read_text().split("\n", 1)[1])
            part.unlink()
    path.write_text(",".join(COLUMNS) + "\n" + "".join(parts))
    return path
