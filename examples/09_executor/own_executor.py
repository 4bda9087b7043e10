"""Runs culmen.minimize on another executor, here a pool of threads.

The executors of Dask and mpi4py.futures work in the same way.
"""

from concurrent.futures import ThreadPoolExecutor

import culmen

with ThreadPoolExecutor(4) as executor:
    found = culmen.minimize(
        lambda p: (p["x"] - 1) ** 2 + p["y"] ** 2, {"x": (-5, 5), "y": (-5, 5)}, budget=500, executor=executor
    )
print(f"value {found.value:.3g} at {found.best}")
