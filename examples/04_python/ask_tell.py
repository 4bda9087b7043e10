"""A program that evaluates the candidates itself and uses only the optimizer."""

import culmen

optimizer = culmen.Optimizer({"x": (-5, 5), "n": culmen.integer(1, 9)}, seed=1)
best = float("inf")
for _ in range(50):
    for candidate in optimizer.ask(8):
        value = candidate.params["x"] ** 2 + (candidate.params["n"] - 4) ** 2
        best = min(best, value)
        optimizer.tell(candidate, value)
print(f"best value {best:.3g}")
