"""SciPy's differential evolution. culmen's workers evaluate the function."""

from scipy.optimize import differential_evolution, rosen

import culmen

with culmen.Executor(4) as executor:
    found = differential_evolution(rosen, [(-5, 5)] * 4, seed=1, maxiter=300, updating="deferred", workers=executor.map)
print(f"value {found.fun:.3g} at {found.x.round(4)} after {found.nfev} evaluations")
