"""The vortex of Taylor and Green as a power series in time, computed independently of the example 21_dns."""

import numpy as np


def enstrophy_series(viscosity: float, orders: int) -> np.ndarray:
    """Coefficients of the enstrophy, half the mean square of the vorticity, by powers of the time.

    With du/dt = P(u x w) + nu lap u, the power m + 1 of u follows from all powers up to m.
    """
    n = 32 if orders <= 13 else 48  # points of each direction; the wave numbers of all powers fit without aliasing
    assert orders <= n // 2 - 3
    x, y, z = np.meshgrid(*[2 * np.pi * np.arange(n) / n] * 3, indexing="ij")
    k = np.stack(np.meshgrid(*[np.fft.fftfreq(n, 1 / n)] * 3, indexing="ij"))
    square = (k**2).sum(axis=0)
    begin = np.stack([np.sin(x) * np.cos(y) * np.cos(z), -np.cos(x) * np.sin(y) * np.cos(z), np.zeros_like(x)])
    waves, velocity, vorticity = [np.fft.fftn(begin, axes=(1, 2, 3))], [], []
    for m in range(orders):
        velocity.append(np.fft.ifftn(waves[m], axes=(1, 2, 3)).real)
        vorticity.append(np.fft.ifftn(1j * np.cross(k, waves[m], axis=0), axes=(1, 2, 3)).real)
        product = sum(np.cross(velocity[j], vorticity[m - j], axis=0) for j in range(m + 1))
        force = np.fft.fftn(product, axes=(1, 2, 3))
        force -= k * (k * force).sum(axis=0) / np.where(square > 0, square, 1)
        waves.append((force - viscosity * square * waves[m]) / (m + 1))
    series = [sum(np.mean(vorticity[j] * vorticity[m - j]) for j in range(m + 1)) for m in range(orders)]
    return 1.5 * np.array(series)  # the mean is over three components, too


def energy_series(viscosity: float, orders: int) -> np.ndarray:
    """Coefficients of the energy, half the mean square of the velocity: dE/dt = -2 nu Z."""
    rate = -2 * viscosity * enstrophy_series(viscosity, orders)
    return np.concatenate([[0.125], rate / np.arange(1, orders + 1)])


def published(reynolds: float) -> np.ndarray:
    """The first coefficients of the enstrophy over its first value, from the article: G. I. Taylor and A. E. Green,
    Mechanism of the production of small eddies from large ones, Proc. R. Soc. A 158 (1937) 499."""
    r = reynolds
    fourth = 50 / (99 * 64) + 1835 / (9 * 16) / r**2 + 54 / r**4
    fifth = -(361 / (44 * 32) + 761 / 12 / r**2 + 324 / 5 / r**4) / r
    return np.array([1, -6 / r, 5 / 48 + 18 / r**2, -(5 / 3 + 36 / r**2) / r, fourth, fifth])
