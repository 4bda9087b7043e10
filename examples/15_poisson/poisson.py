"""A heated plate: from temperatures at 49 points, find the place, the width and the strength of the source of heat.

The temperature u solves Poisson's equation -Δu = s on the unit square, with u = 0 at the edges. The grid has N × N inner
points. Each rank has some of its rows, and solves with the others by conjugate gradients. Sums are taken along each row
first, and then over all rows in their order. Therefore the result does not depend on the number of ranks.
"""

from pathlib import Path

import numpy as np
from mpi4py import MPI

N = 63
AXIS = np.arange(1, N + 1) / (N + 1)
SENSORS = np.arange(7, N, 8)  # rows and columns of the grid
ERROR = 0.01  # of a measured temperature


class Rows:
    """The rows of the grid that this rank has."""

    def __init__(self, comm):
        self.comm = comm
        self.counts = [N // comm.size + (rank < N % comm.size) for rank in range(comm.size)]
        self.first = sum(self.counts[: comm.rank])
        self.y = AXIS[self.first : self.first + self.counts[comm.rank], np.newaxis]
        self.before = comm.rank - 1 if comm.rank > 0 else MPI.PROC_NULL
        self.after = comm.rank + 1 if comm.rank + 1 < comm.size else MPI.PROC_NULL

    def minus_laplacian(self, u):
        padded = np.zeros((len(u) + 2, N + 2))  # with the edges, or the neighbours' rows
        padded[1:-1, 1:-1] = u
        above, below = np.zeros(N), np.zeros(N)
        self.comm.Sendrecv(u[-1], self.after, recvbuf=above, source=self.before)
        self.comm.Sendrecv(u[0], self.before, recvbuf=below, source=self.after)
        padded[0, 1:-1], padded[-1, 1:-1] = above, below
        around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
        return (4 * u - around) * (N + 1) ** 2

    def dot(self, a, b):
        sums = np.empty(N)
        self.comm.Allgatherv((a * b).sum(axis=1), (sums, self.counts))
        return sums.sum()

    def solve(self, source):
        """Conjugate gradients (Hestenes and Stiefel 1952)."""
        u, residual = np.zeros_like(source), source.copy()
        direction, rest = residual, self.dot(residual, residual)
        least = 1e-20 * rest
        while rest > least:
            image = self.minus_laplacian(direction)
            step = rest / self.dot(direction, image)
            u = u + step * direction
            residual = residual - step * image
            before, rest = rest, self.dot(residual, residual)
            direction = residual + rest / before * direction
        return u


def temperatures(p, comm):
    """The temperature at every inner point of the grid, on each rank."""
    rows = Rows(comm)
    distance2 = (AXIS - p["x"]) ** 2 + (rows.y - p["y"]) ** 2
    source = p["strength"] * np.exp(-distance2 / (2 * p["width"] ** 2))
    return np.concatenate(comm.allgather(rows.solve(source)))


def residuals(p, comm):
    """What culmen calls on every rank of a team, with the same parameters and the communicator of the team."""
    measured = np.loadtxt(Path(__file__).with_name("temperatures.txt"))
    u = temperatures(p, comm)
    return ((u[np.ix_(SENSORS, SENSORS)] - measured) / ERROR).ravel()


if __name__ == "__main__":  # mpiexec -n 4 python poisson.py
    u = temperatures({"x": 0.3, "y": 0.6, "width": 0.1, "strength": 50.0}, MPI.COMM_WORLD)
    if MPI.COMM_WORLD.rank == 0:
        print(f"{MPI.COMM_WORLD.size} ranks, highest temperature {u.max():.17g}")
