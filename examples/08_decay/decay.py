"""Counts of a decaying source, and the residuals of a model."""

from math import exp, sqrt

# minutes since the start, counts in that minute
DATA = [(0, 538), (5, 421), (10, 361), (20, 226), (30, 152), (45, 103), (60, 60), (90, 47), (120, 29)]


def model(t, p):
    return p["amplitude"] * exp(-p["rate"] * t) + p["background"]


def residuals(p):
    """Differences in standard deviations of the counts: the sum of their squares is χ²."""
    return [(model(t, p) - n) / sqrt(n) for t, n in DATA]
