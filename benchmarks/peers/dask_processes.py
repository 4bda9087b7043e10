"""Dask with worker processes of one thread each, for `culmen bench transport --peer`."""

import sys

from distributed import Client, LocalCluster
from rate import report

if __name__ == "__main__":
    workers, duration_s, seconds = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        executor = client.get_executor(pure=False)
        report(executor, workers, duration_s, seconds)
