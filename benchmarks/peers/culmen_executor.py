"""culmen.Executor, for `culmen bench transport --peer`: the same Python function as the peers."""

import sys

from rate import report

import culmen

if __name__ == "__main__":
    workers, duration_s, seconds = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    with culmen.Executor(workers) as pool:
        report(pool, workers, duration_s, seconds)
