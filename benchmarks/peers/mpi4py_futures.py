"""mpi4py.futures, for `culmen bench transport --peer`. It starts its ranks with `culmen launch`."""

import subprocess
import sys

from rate import report

if __name__ == "__main__":
    workers, duration_s, seconds = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    if sys.argv[4:] != ["rank"]:
        launch = [sys.executable, "-m", "culmen", "launch", "-n", str(workers + 1)]
        sys.exit(subprocess.call([*launch, sys.executable, "-m", "mpi4py.futures", *sys.argv, "rank"]))
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor(workers) as pool:
        report(pool, workers, duration_s, seconds)
