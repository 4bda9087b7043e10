"""A function that evaluates many candidates at once.

Each parameter is a vector with one entry per candidate. The function returns one value per candidate.
"""

import numpy as np

import culmen


def damped(p: dict[str, np.ndarray]) -> np.ndarray:
    time = np.linspace(0, 4, 200)[:, None]
    target = np.exp(-0.7 * time) * np.cos(3.1 * time)
    model = np.exp(-p["decay"] * time) * np.cos(p["frequency"] * time)
    return ((model - target) ** 2).sum(axis=0)


result = culmen.minimize(
    damped,
    {"decay": (0.0, 2.0), "frequency": (1.0, 6.0)},
    budget=4000,
    batch=64,
    optimizer="cmaes",
    options={"population": 128},
    workers=2,
)
if culmen.is_master():
    print(result)
