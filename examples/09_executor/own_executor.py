"""culmen's optimizer on an executor that the program has already: here threads, as well Dask's or mpi4py.futures'."""

from concurrent.futures import ThreadPoolExecutor

import culmen

with ThreadPoolExecutor(4) as executor:
    found = culmen.minimize(
        lambda p: (p["x"] - 1) ** 2 + p["y"] ** 2, {"x": (-5, 5), "y": (-5, 5)}, budget=500, executor=executor
    )
print(f"value {found.value:.3g} at {found.best}")
