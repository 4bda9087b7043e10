"""Measures an executor for `culmen bench transport --peer`: what each runner in this folder does alike.

A runner is called as RUNNER.py WORKERS DURATION_S SECONDS. It prints one JSON line: `items` evaluations took `steady_s`
seconds while all workers were busy. Alone, an evaluation takes `lone_s`, and these items together take `work_s`.
"""

import ctypes
import json
import os
import threading
import time
from concurrent.futures import Executor, Future

_PR_SET_TIMERSLACK, _ROUNDS = 29, 8
_LONGEST_START_S = 120.0
_LIBC = ctypes.CDLL(None)


def task(duration_s: float) -> float:
    _LIBC.prctl(_PR_SET_TIMERSLACK, 1)  # as culmen's own cost functions do
    time.sleep(duration_s)
    return duration_s


def report(pool: Executor, workers: int, duration_s: float, seconds: float) -> None:
    """Each worker has two tasks at a time, as with prefetch."""
    _start_all(pool, workers)
    lone_s = _lone_s(duration_s)
    under_way = threading.Semaphore(2 * workers)
    ends: list[float] = []

    def ended(future: Future) -> None:
        assert future.result() == duration_s
        ends.append(time.monotonic())
        under_way.release()

    begin = time.monotonic()
    while time.monotonic() < begin + seconds or len(ends) < _ROUNDS * workers:
        under_way.acquire()
        pool.submit(task, duration_s).add_done_callback(ended)
    last = len(ends)
    for _ in range(2 * workers):
        under_way.acquire()
    items = (last - workers) // workers * workers  # after the first round; a multiple, so that phases do not matter
    steady_s = ends[workers - 1 + items] - ends[workers - 1]
    print(json.dumps({"items": items, "steady_s": steady_s, "work_s": items * lone_s, "lone_s": lone_s}), flush=True)


def _start_all(pool: Executor, workers: int) -> None:
    """Returns once each worker has evaluated. Workers are processes."""
    seen: set[int] = set()
    until = time.monotonic() + _LONGEST_START_S
    while len(seen) < workers:
        assert time.monotonic() < until, f"only {len(seen)} of {workers} workers have started"
        seen |= {future.result() for future in [pool.submit(_process, 0.05) for _ in range(2 * workers)]}


def _process(duration_s: float) -> int:
    time.sleep(duration_s)
    return os.getpid()


def _lone_s(duration_s: float) -> float:
    took = []
    for _ in range(max(3, min(20, int(0.5 / duration_s)))):
        begin = time.monotonic()
        task(duration_s)
        took.append(time.monotonic() - begin)
    return min(took)
