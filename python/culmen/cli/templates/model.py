"""NAME.toml minimizes the sum of these squared residuals. Try it alone: python NAME.py"""

from math import exp

# time, measured, its standard deviation: replace these by your data
DATA = [(0, 5.1, 0.1), (1, 3.2, 0.1), (2, 2.1, 0.1), (3, 1.5, 0.1), (4, 1.1, 0.1), (6, 0.8, 0.1), (8, 0.6, 0.1)]


def model(t, p):
    return p["amplitude"] * exp(-p["rate"] * t) + p["offset"]


def residuals(p):
    """One number for each data point; culmen minimizes the sum of their squares."""
    return [(model(t, p) - measured) / sigma for t, measured, sigma in DATA]


if __name__ == "__main__":
    print(sum(r * r for r in residuals({"amplitude": 4.0, "rate": 0.5, "offset": 1.0})))
