"""A fit of an exponential decay: the data and the residuals."""

from math import exp, sqrt

# time in minutes, counts in the minute that begins at this time
DATA = [(0, 538), (5, 421), (10, 361), (20, 226), (30, 152), (45, 103), (60, 60), (90, 47), (120, 29)]


def model(t, p):
    return p["amplitude"] * exp(-p["rate"] * t) + p["background"]


def residuals(p):
    """One residual per count, in standard deviations. The sum of the squares is χ²."""
    return [(model(t, p) - n) / sqrt(n) for t, n in DATA]
