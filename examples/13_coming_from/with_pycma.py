from math import exp, log

import cma
from chi2 import chi2

# each parameter is scaled to the range from 0 to 1; for the rate, the logarithm is scaled
low, high = (0, log(1e-3), 0), (1000, log(1), 100)


def unscaled(u):
    amplitude, log_rate, background = (a + (b - a) * t for a, b, t in zip(low, high, u, strict=True))
    return amplitude, exp(log_rate), background


es = cma.CMAEvolutionStrategy(3 * [0.5], 0.3, {"bounds": [0, 1], "maxfevals": 1500, "seed": 1, "verbose": -9})
while not es.stop():
    points = es.ask()
    es.tell(points, [chi2(*unscaled(u)) for u in points])
print(es.result.fbest, unscaled(es.result.xbest))
