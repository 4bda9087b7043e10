"""The prediction error of a regression (cross-validation).

Each data point is predicted from all other data points.

Data: electron mobility in silicon against the logarithm of the density (R. Thurber, NIST/ITL Statistical Reference
Datasets, public domain).
"""

import csv
from pathlib import Path

import numpy as np

_ROWS = list(csv.reader((Path(__file__).parent / "electron_mobility.csv").open()))[1:]
X, Y = np.array(_ROWS, float).T
X = (X - X.mean()) / X.std()

SHAPES = {
    "gauss": lambda d: np.exp(-(d**2) / 2),
    "laplace": lambda d: np.exp(-d),
    "cauchy": lambda d: 1 / (1 + d**2),
}


def error(p):
    """Root mean square of the prediction errors, in cm²/Vs."""
    misses = []
    for left_out in range(len(X)):
        keep = np.arange(len(X)) != left_out
        misses.append(predict(p, X[keep], Y[keep], X[left_out]) - Y[left_out])
    return np.sqrt(np.mean(np.square(misses)))


def predict(p, x, y, at):
    if p["model"] == "neighbours":
        near = np.argsort(np.abs(x - at))[: p["neighbours"]]
        weights = 1 / (1e-9 + np.abs(x[near] - at)) if p.get("weighted") else None
        return np.average(y[near], weights=weights)
    mean = y.mean()
    if p["model"] == "kernel":
        shape = SHAPES[p["shape"]]
        gram = shape(np.abs(x[:, None] - x) / p["bandwidth"])
        return mean + shape(np.abs(x - at) / p["bandwidth"]) @ np.linalg.solve(
            gram + p["ridge"] * np.eye(len(x)), y - mean
        )
    powers = np.vander(x, p["degree"] + 1)
    factors = np.linalg.solve(powers.T @ powers + p["ridge"] * np.eye(powers.shape[1]), powers.T @ (y - mean))
    return mean + np.vander([at], p["degree"] + 1)[0] @ factors
