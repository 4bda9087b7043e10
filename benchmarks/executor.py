"""The rate of calls of an empty Python function, with culmen.Executor and with other pools."""

import sys
from collections.abc import Iterator
from pathlib import Path

from measure import Bench, Row, foreign, spread

WORKERS = 8
WAYS = {  # chunk size or, negative, the number of calls in flight: name, calls, least factor above mpi4py.futures
    0: ("submit", 30_000, 3),
    -16: ("submit, 16 in flight", 30_000, 2),
    1: ("map, chunksize 1", 30_000, 3),
    100: ("map, chunksize 100", 1_500_000, None),
}
POOLS = {"process_pool": "ProcessPoolExecutor", "multiprocessing": "multiprocessing.Pool"}


def executor(bench: Bench) -> Iterator[Row]:
    """All pools get the same calls in the same way. Large chunks show the difference that remains."""
    for chunksize, (way, calls, factor) in WAYS.items():
        words = (WORKERS, bench.scaled(calls), chunksize)
        runs = {
            kind: lambda kind=kind, words=words: bench.run(sys.executable, _script(), kind, *words)
            for kind in ("culmen", *POOLS)
        }
        runs["mpi4py"] = lambda words=words: bench.launch(
            "openmpi", WORKERS + 1, sys.executable, "-m", "mpi4py.futures", _script(), "mpi4py", *words
        )
        done = bench.take_turns(runs)
        peer = spread(done["mpi4py"], "rate")
        for kind, title in {"culmen": "Executor", **POOLS}.items():
            figure = spread(done[kind], "rate")
            at_least = factor if kind == "culmen" else None
            load = foreign(done[kind], done["mpi4py"])
            name = f"{title}, empty function, {WORKERS} processes, {way}"
            yield Row(name, "1/s", figure, peer, "mpi4py.futures", figure.over(peer), at_least=at_least, foreign=load)


def _script() -> Path:
    return Path(__file__).with_name("executor_rate.py")
