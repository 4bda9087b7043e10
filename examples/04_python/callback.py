"""Stops a study as soon as it has found a value below 0.001."""

import culmen


def watch(e: culmen.Evaluated) -> bool:
    print(e.evaluations, e.params, e.value)
    return e.best_value is not None and e.best_value < 1e-3


result = culmen.minimize(
    lambda p: (p["x"] - 1) ** 2 + (p["y"] + 2) ** 2, {"x": (-5, 5), "y": (-5, 5)}, budget=1000, callback=watch
)
if culmen.is_master():
    print(result.message)
    print(len(result.read()), "evaluations in memory")
