"""Measures megabytes per second: large_data_rate.py KIND WAY.

KIND is executor, minimize, loky or process_pool (concurrent.futures, with cloudpickle for functions). With two workers,
WAY is one of these:

- captured: the first result of a function that captured an array of 300 MB. The workers have not started before.
- again: eight more results of this function.
- results: eight results of 40 MB.

Also prints how much the memory of this process grew, at most and at the end, as a share of these data.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np

WORKERS = 2
CAPTURED_BYTES, RESULT_BYTES, RESULTS = 300_000_000, 40_000_000, 8


class Sent:
    """A function that the standard library can pickle."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __reduce__(self) -> tuple[Any, ...]:
        return cloudpickle.loads, (cloudpickle.dumps(self._function),)


@contextmanager
def opened(kind: str) -> Iterator[Any]:
    if kind == "executor":
        import culmen

        with culmen.Executor(WORKERS) as pool:
            yield pool
    elif kind == "loky":
        from joblib.externals import loky

        yield loky.get_reusable_executor(WORKERS)
        loky.get_reusable_executor().shutdown()
    else:
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(WORKERS) as pool:
            yield pool


def memory(key: str) -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key))
    return int(line.split()[1]) * 1024


def begin() -> tuple[float, int]:
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak of the memory
    return time.perf_counter(), memory("VmRSS")


def show(size: int, started: tuple[float, int]) -> None:
    seconds, before = time.perf_counter() - started[0], started[1]
    growth = {key: (memory(name) - before) / size for key, name in (("peak", "VmHWM"), ("kept", "VmRSS"))}
    print(json.dumps({"rate": size / 1e6 / seconds, **growth}))


def captured(kind: str, again: bool) -> None:
    data = np.random.default_rng(1).random(CAPTURED_BYTES // 8)

    def f(x: float) -> float:
        return float(data[-1]) + x

    if kind == "minimize":
        import culmen

        started = begin()
        found = culmen.minimize(lambda p: f(p["x"]), {"x": (0, 1)}, budget=4, workers=WORKERS)
        assert found.value >= data[-1]
        return show(CAPTURED_BYTES, started)
    sent = Sent(f) if kind == "process_pool" else f
    with opened(kind) as pool:
        started = begin()
        assert pool.submit(sent, 1).result() == data[-1] + 1
        if not again:
            return show(CAPTURED_BYTES, started)
        started = begin()
        assert [call.result() for call in [pool.submit(sent, x) for x in range(8)]] == [data[-1] + x for x in range(8)]
        return show(8 * CAPTURED_BYTES, started)


def numbers(first: int) -> np.ndarray:
    return np.arange(first, first + RESULT_BYTES // 8)


def results(kind: str) -> None:
    with opened(kind) as pool:
        assert pool.submit(len, "ab").result() == 2
        started = begin()
        calls = [pool.submit(numbers, first) for first in range(RESULTS)]
        for first, call in enumerate(calls):
            assert call.result()[0] == first
        show(RESULTS * RESULT_BYTES, started)


if __name__ == "__main__":
    kind, way = sys.argv[1:]
    if way == "results":
        results(kind)
    else:
        captured(kind, way == "again")
