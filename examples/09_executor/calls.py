"""Runs Python functions on culmen's workers. Under MPI: culmen launch -n 9 python calls.py"""

import culmen


def energy(n: int, scale: float = 1.0) -> float:
    return scale * sum(1 / k**2 for k in range(1, n))


with culmen.Executor() as executor:
    future = executor.submit(energy, 1000, scale=6.0)
    print(f"{future.result():.4f}")
    print(sum(executor.map(lambda n: n * n, range(1000), chunksize=50)))
