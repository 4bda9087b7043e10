"""χ² of a decaying source with three parameters: amplitude, rate and background."""

from math import exp

DATA = [(0, 538), (5, 421), (10, 361), (20, 226), (30, 152), (45, 103), (60, 60), (90, 47), (120, 29)]


def chi2(amplitude, rate, background):
    return sum((amplitude * exp(-rate * t) + background - n) ** 2 / n for t, n in DATA)
