from chi2 import chi2

import culmen

space = {"amplitude": (0, 1000), "rate": culmen.real(1e-3, 1, scale="log"), "background": (0, 100)}
optimizer = culmen.Optimizer(space, "cmaes", seed=1)
best = float("inf")
for _ in range(150):
    for candidate in optimizer.ask(10):
        value = chi2(**candidate.params)
        best = min(best, value)
        optimizer.tell(candidate, value)
print(best)
