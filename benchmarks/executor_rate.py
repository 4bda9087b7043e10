"""Measures the calls per second of an empty function: executor_rate.py KIND WORKERS CALLS CHUNKSIZE.

KIND is culmen, mpi4py (as ranks, under -m mpi4py.futures), process_pool (concurrent.futures) or multiprocessing.
If CHUNKSIZE is 0, there is one submit (or apply_async) for each call. If it is negative, -CHUNKSIZE calls are in
flight: the callback of each result submits the next call. Otherwise there is one map with this chunksize.
The child processes have started before the measurement begins. Every answer is checked.
"""

import itertools
import json
import sys
import threading
import time
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from typing import Any


def no_op(number: int) -> int:
    return number + 1


def make(kind: str, workers: int) -> AbstractContextManager[Any]:
    if kind == "culmen":
        import culmen

        return culmen.Executor(workers)
    if kind == "mpi4py":
        from mpi4py.futures import MPIPoolExecutor

        return MPIPoolExecutor(max_workers=workers)
    if kind == "process_pool":
        from concurrent.futures import ProcessPoolExecutor

        return ProcessPoolExecutor(workers)
    from multiprocessing import Pool

    return Pool(workers)


def results(pool: Any, calls: int, chunksize: int) -> list[int]:
    if chunksize < 0:
        return Flight(pool, calls).results(-chunksize)
    if chunksize > 0:
        return list(pool.map(no_op, range(calls), chunksize=chunksize))
    if isinstance(pool, Executor):
        return [future.result() for future in [pool.submit(no_op, number) for number in range(calls)]]
    return [answer.get() for answer in [pool.apply_async(no_op, (number,)) for number in range(calls)]]


class Flight:
    """As many calls in flight as there are at the start."""

    def __init__(self, pool: Any, calls: int) -> None:
        self._pool, self._calls = pool, calls
        self._submitted = itertools.count()
        self._results: list[int] = []
        self._done = threading.Event()

    def results(self, in_flight: int) -> list[int]:
        for _ in range(in_flight):
            self._submit()
        self._done.wait()
        return sorted(self._results)

    def _submit(self) -> None:
        if (number := next(self._submitted)) >= self._calls:
            return
        if isinstance(self._pool, Executor):
            self._pool.submit(no_op, number).add_done_callback(lambda future: self._arrived(future.result()))
        else:
            self._pool.apply_async(no_op, (number,), callback=self._arrived)

    def _arrived(self, result: int) -> None:
        self._results.append(result)
        if len(self._results) == self._calls:
            self._done.set()
        self._submit()


def main(kind: str, workers: int, calls: int, chunksize: int) -> None:
    with make(kind, workers) as pool:
        results(pool, 100 * workers, 1)
        begin = time.perf_counter()
        got = results(pool, calls, chunksize)
        rate = calls / (time.perf_counter() - begin)
    if got != list(range(1, calls + 1)):
        sys.exit("wrong answers")
    print(json.dumps({"rate": rate}))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
