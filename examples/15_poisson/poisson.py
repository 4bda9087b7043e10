"""A heated plate: from temperatures at 49 points, find the place, the width and the strength of the source of heat.

The temperature u solves Poisson's equation -Δu = s on the unit square, with u = 0 at the edges, on a grid of N × N
inner points. The solver is that of Hockney (J. ACM 12 (1965) 95): a sine transform along each row leaves one
tridiagonal system for each wave number. Each rank has some of the rows, and solves the systems of some wave numbers.
Each sum is along one row, so one rank computes it, always in the same order. Therefore not even the rounding depends on
the number of ranks.
"""

import numpy as np
from mpi4py import MPI

N = 63
AXIS = np.arange(1, N + 1) / (N + 1)
SINES = np.sin(np.pi * np.outer(np.arange(1, N + 1), AXIS))
SENSORS = np.arange(7, N, 8)  # rows and columns of the grid
ERROR = 0.01  # of a measured temperature
# Made by this model with x = 0.3, y = 0.6, width = 0.1, strength = 50, and normal errors of 0.01.
MEASURED = np.array(
    [
        [0.0522, 0.0924, 0.1009, 0.0769, 0.0791, 0.0508, 0.0174],
        [0.1173, 0.1961, 0.2205, 0.1921, 0.1487, 0.0845, 0.0427],
        [0.1986, 0.3642, 0.3894, 0.3108, 0.2088, 0.1300, 0.0626],
        [0.3126, 0.5952, 0.6165, 0.4074, 0.2536, 0.1568, 0.0688],
        [0.3523, 0.6617, 0.6977, 0.4506, 0.2735, 0.1777, 0.0780],
        [0.2566, 0.4487, 0.4576, 0.3466, 0.2174, 0.1121, 0.0498],
        [0.1151, 0.1921, 0.2157, 0.1727, 0.1151, 0.0626, 0.0370],
    ]
)


def shares(comm):
    """For every rank, the indices of its rows (or of its wave numbers)."""
    return np.array_split(np.arange(N), comm.size)


def exchanged(rows, comm):
    """Transposes a matrix: takes this rank's rows, and returns this rank's share of the columns, each as a row."""
    return np.hstack(comm.alltoall([rows[:, share].T for share in shares(comm)]))


def transformed(rows):
    return np.array([(SINES * row).sum(axis=1) for row in rows]).reshape(-1, N)


def tridiagonal(diagonal, right):
    """Solves -u[j-1] + diagonal u[j] - u[j+1] = right[j] for each row of `right`, by Gaussian elimination."""
    pivots, u = np.empty_like(right), right.copy()
    pivots[:, 0] = diagonal
    for j in range(1, N):
        pivots[:, j] = diagonal - 1 / pivots[:, j - 1]
        u[:, j] += u[:, j - 1] / pivots[:, j - 1]
    u[:, -1] /= pivots[:, -1]
    for j in reversed(range(N - 1)):
        u[:, j] = (u[:, j] + u[:, j + 1]) / pivots[:, j]
    return u


def solved(source, comm):
    """This rank's rows of the temperature."""
    waves = shares(comm)[comm.rank] + 1
    diagonal = 4 - 2 * np.cos(np.pi * waves / (N + 1))
    right = exchanged(transformed(source), comm) / (N + 1) ** 2
    return transformed(exchanged(tridiagonal(diagonal, right), comm)) * 2 / (N + 1)


def temperatures(p, comm):
    """The temperature at every inner point of the grid, on each rank."""
    y = AXIS[shares(comm)[comm.rank], np.newaxis]
    distance2 = (AXIS - p["x"]) ** 2 + (y - p["y"]) ** 2
    source = p["strength"] * np.exp(-distance2 / (2 * p["width"] ** 2))
    return np.vstack(comm.allgather(solved(source, comm)))


def residuals(p, comm):
    """culmen calls this function on every rank of a team, with the same parameters and the team's communicator."""
    u = temperatures(p, comm)
    return ((u[np.ix_(SENSORS, SENSORS)] - MEASURED) / ERROR).ravel()


if __name__ == "__main__":  # mpiexec -n 4 python poisson.py
    u = temperatures({"x": 0.3, "y": 0.6, "width": 0.1, "strength": 50.0}, MPI.COMM_WORLD)
    if MPI.COMM_WORLD.rank == 0:
        print(f"{MPI.COMM_WORLD.size} ranks, highest temperature {u.max():.17g}")
