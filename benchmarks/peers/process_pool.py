"""Python's process pool, for `culmen bench transport --peer`."""

import sys
from concurrent.futures import ProcessPoolExecutor

from rate import report

if __name__ == "__main__":
    workers, duration_s, seconds = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    with ProcessPoolExecutor(workers) as pool:
        report(pool, workers, duration_s, seconds)
