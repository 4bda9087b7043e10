"""Measures tasks per second: `python -m mpi4py.futures mpi4py_rate.py WORKERS TASKS SLEEP_US`, in WORKERS + 1 ranks."""

import ctypes
import json
import sys
import threading
import time
from concurrent.futures import Future

from mpi4py.futures import MPIPoolExecutor

_PR_SET_TIMERSLACK = 29
_LIBC = ctypes.CDLL(None)


def task(number: int, sleep_s: float) -> int:
    _LIBC.prctl(_PR_SET_TIMERSLACK, 1)  # as the other workers do; not in rank 0, which polls by short sleeps
    time.sleep(sleep_s)
    return number + 1


def main(workers: int, tasks: int, sleep_s: float) -> None:
    """Each worker has two tasks at a time, as with prefetch. Every answer is checked."""
    under_way = threading.Semaphore(2 * workers)
    ends: list[float] = []
    wrong: list[int] = []

    def ended(number: int, future: Future) -> None:
        if future.result() != number + 1:
            wrong.append(number)
        ends.append(time.monotonic())
        under_way.release()

    with MPIPoolExecutor(max_workers=workers) as executor:
        for number in range(tasks):
            under_way.acquire()
            executor.submit(task, number, sleep_s).add_done_callback(lambda f, n=number: ended(n, f))
    if wrong or len(ends) != tasks:
        sys.exit(f"{len(wrong)} wrong answers, {len(ends)} of {tasks}")
    first, last = tasks // 10, tasks * 9 // 10
    print(json.dumps({"rate": (last - first) / (ends[last] - ends[first])}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) * 1e-6)
