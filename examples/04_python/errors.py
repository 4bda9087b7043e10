"""Errors of the parameters of a fit.

The data are twelve measurements of an exponential decay. Each has a standard deviation of 0.05.
"""

import math

import culmen

TIMES = [0.5 * k for k in range(12)]
COUNTS = [6.05, 4.69, 3.73, 3.01, 2.55, 2.09, 1.85, 1.58, 1.50, 1.32, 1.28, 1.15]


def residuals(p: dict[str, float]) -> list[float]:
    """Differences between model and data, in standard deviations."""
    model = (p["height"] * math.exp(-p["rate"] * t) + p["floor"] for t in TIMES)
    return [(m - c) / 0.05 for m, c in zip(model, COUNTS, strict=True)]


space = {"height": (0, 20), "rate": culmen.real(0.01, 10, "log"), "floor": (0, 5)}
result = culmen.minimize(residuals, space, result="residuals", budget=3000, workers=2)
if culmen.is_master():
    rate = result.errors["rate"]
    print(f"rate = {rate.value:.4f} ± {rate.error:.4f}, times S: ± {rate.scaled:.4f}")
    print(result.errors)
