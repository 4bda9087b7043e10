"""A fit of the pion's form factor below 1 GeV to data of CMD-2.

The model is based on that of Gounaris and Sakurai. culmen calls ``residuals`` for each candidate.
"""

import csv
import math
from cmath import exp
from pathlib import Path

M_PI = 0.13957  # GeV
M_OMEGA, GAMMA_OMEGA = 0.78271, 0.00868  # GeV; constant in this fit

with Path(__file__).with_name("cmd2_2007.csv").open() as file:
    DATA = [(float(row["q2_GeV2"]), float(row["Fpi_sq"]), float(row["sigma"])) for row in csv.DictReader(file)]


def momentum(s: float) -> float:
    """Momentum of each pion, in the rest frame of a pair of pions with mass sqrt(s)."""
    return math.sqrt(s / 4 - M_PI**2)


def h(s: float) -> float:
    k, root = momentum(s), math.sqrt(s)
    return 2 / math.pi * k / root * math.log((root + 2 * k) / (2 * M_PI))


def gounaris_sakurai(s: float, m: float, gamma: float) -> complex:
    """Amplitude of a vector meson that decays to two pions (Phys. Rev. Lett. 21 (1968) 244)."""
    k, k_m = momentum(s), momentum(m * m)
    slope = h(m * m) * (1 / (8 * k_m**2) - 1 / (2 * m**2)) + 1 / (2 * math.pi * m**2)
    f = gamma * m**2 / k_m**3 * (k**2 * (h(s) - h(m * m)) + (m**2 - s) * k_m**2 * slope)
    d = 3 / math.pi * M_PI**2 / k_m**2 * math.log((m + 2 * k_m) / (2 * M_PI))
    d += m / (2 * math.pi * k_m) - M_PI**2 * m / (math.pi * k_m**3)
    width = gamma * (k / k_m) ** 3 * m / math.sqrt(s)
    return m**2 * (1 + d * gamma / m) / (m**2 - s + f - 1j * m * width)


def form_factor(s: float, p: dict[str, float]) -> complex:
    """The form factor: rho(770) with rho-omega mixing, and one heavier rho."""
    omega = M_OMEGA**2 / (M_OMEGA**2 - s - 1j * M_OMEGA * GAMMA_OMEGA)
    mixing = p["delta"] * exp(1j * p["phi"])
    rho = gounaris_sakurai(s, p["m_rho"], p["gamma_rho"]) * (1 + mixing * omega) / (1 + mixing)
    return (rho + p["beta"] * gounaris_sakurai(s, p["m_rho2"], p["gamma_rho2"])) / (1 + p["beta"])


def residuals(p: dict[str, float]) -> list[float]:
    """One residual per data point, in standard deviations. culmen minimizes the sum of the squares."""
    return [(abs(form_factor(s, p)) ** 2 - measured) / sigma for s, measured, sigma in DATA]
