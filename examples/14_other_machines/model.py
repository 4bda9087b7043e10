"""Rosenbrock's function, as slow as a small simulation."""

import time


def f(p):
    time.sleep(0.01)
    x = [p["a"], p["b"], p["c"], p["d"]]
    return sum(100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2 for i in range(3))
