"""culmen.Executor: what a program submits, and what it gets back."""

import concurrent.futures
import functools
import gc
import operator
import os
import threading
import time
import weakref

import numpy as np
import pytest
from harness import HANGS_S, wait_for

import culmen

pytestmark = pytest.mark.no_numbers


@pytest.mark.parametrize("transport", ["threads", "processes"])
def test_calls_run_in_other_processes_and_their_results_come_back(transport):
    with culmen.Executor(2, transport) as pool:
        numbers = set(pool.map(lambda _: os.getpid(), range(20)))
        assert os.getpid() not in numbers
        assert pool.submit(pow, 2, exp=10).result() == 1024
        assert pool.workers == 2


def test_map_keeps_the_order_whatever_the_chunks(executor):
    for chunksize in (1, 7, 1000):
        squares = executor.map(lambda x, y: x * y, range(100), range(100), chunksize=chunksize)
        assert list(squares) == [x * x for x in range(100)]
    assert list(executor.map(len, [])) == []


def test_starmap_is_as_of_multiprocessing(executor):
    assert executor.starmap(pow, [(2, 3), (3, 2)]) == [8, 9]
    assert executor.starmap(operator.add, zip(range(10), range(10), strict=True), chunksize=3) == list(range(0, 20, 2))


def test_what_a_function_captures_is_as_it_was_when_it_was_submitted(executor):
    scale, factors = 2, [1]

    def scaled(x):
        return x * scale * factors[0]

    assert executor.submit(scaled, 3).result() == 6
    scale = 5
    assert executor.submit(scaled, 3).result() == 15
    factors[0] = 10
    assert executor.submit(scaled, 3).result() == 150


def test_large_arrays_that_a_function_captures_are_as_they_were_when_it_was_submitted(executor):
    big, small = np.zeros(1_000_001), np.zeros(3, dtype="u1")

    def total(x):
        return float(big.sum()) + int(small.sum()) + x

    assert executor.submit(total, 1).result() == 1
    assert executor.submit(total, 2).result() == 2
    big[-1] = 5
    assert executor.submit(total, 1).result() == 6
    small[-1] = 1
    assert executor.submit(total, 1).result() == 7
    big = np.ones(2_000_001)
    assert executor.submit(total, 1).result() == 2_000_003


def countdown():
    """A function that captures itself, and two that capture each other."""

    def down(n):
        return n and down(n - 1)

    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n > 0 and even(n - 1)

    return down, even


def test_functions_that_refer_to_themselves_are_not_kept(executor):
    functions = countdown()
    gone = [weakref.ref(f) for f in functions]
    for _ in range(2):
        assert [executor.submit(f, 4).result() for f in functions] == [0, True]
    del functions
    gc.collect()
    assert [f() for f in gone] == [None, None]


def test_the_initializer_runs_in_every_child():
    with culmen.Executor(2, initializer=lambda mark: os.environ.update(MARK=mark), initargs=("here",)) as pool:
        assert set(pool.map(lambda _: os.environ["MARK"], range(20))) == {"here"}


def test_nothing_waits_behind_a_long_call_without_prefetch(tmp_path):
    gate = tmp_path / "gate"
    with culmen.Executor(2, prefetch=False) as pool:
        assert sum(pool.map(len, ["a"] * 50)) == 50
        long = pool.submit(lambda: wait_for(gate.exists, "the gate"))
        assert sum(pool.map(len, ["a"] * 50, timeout=HANGS_S)) == 50
        assert not long.done()
        gate.touch()
        assert long.result() is True


def test_large_arrays_travel_both_ways(executor):
    array = np.arange(4_000_000, dtype=float)
    assert np.array_equal(executor.submit(lambda a: a + 1, array).result(), array + 1)
    assert executor.submit(lambda: array.sum()).result() == array.sum()


def test_many_threads_submit_at_once(executor):
    sums = []

    def use(n):
        sums.append(sum(f.result() for f in [executor.submit(operator.add, n, i) for i in range(200)]))

    threads = [threading.Thread(target=use, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sums) == [200 * n + 19900 for n in range(4)]


def test_executors_live_side_by_side_and_one_after_another():
    for _ in range(2):
        with culmen.Executor(1) as one, culmen.Executor(2) as other:
            assert one.submit(len, "a").result() + other.submit(len, "ab").result() == 3


def test_more_functions_than_a_child_keeps(executor):
    adders = [functools.partial(operator.add, n) for n in range(150)]
    for _ in range(2):
        assert [f.result() for f in [executor.submit(adder, 1) for adder in adders]] == list(range(1, 151))


def test_a_function_that_forks_gives_one_answer(executor):
    def fork():
        os.fork()
        return "once"

    assert executor.submit(fork).result() == "once"
    assert executor.submit(len, "ab").result() == 2


def test_a_map_ends_with_its_timeout(executor):
    with pytest.raises(concurrent.futures.TimeoutError):
        list(executor.map(time.sleep, [0.3, 0.3, 0.3], timeout=0.01))


def test_scipys_differential_evolution_finds_the_same_as_with_its_own_pool(executor):
    optimize = pytest.importorskip("scipy.optimize")

    def find(workers):
        return optimize.differential_evolution(
            optimize.rosen, [(-5, 5)] * 3, seed=3, maxiter=20, updating="deferred", workers=workers
        )

    ours, theirs = find(executor.map), find(2)
    assert ours.x.tobytes() == theirs.x.tobytes()
    assert (ours.fun, ours.nfev) == (theirs.fun, theirs.nfev)


def test_the_number_of_workers_may_have_the_name_of_the_standard_library_and_be_numpys():
    with culmen.Executor(max_workers=np.int64(2)) as pool:
        assert pool.workers == 2
        assert list(pool.map(abs, range(4), chunksize=np.int64(3))) == [0, 1, 2, 3]


def test_long_calls_begin_in_their_order_and_nothing_waits_behind_one(tmp_path):
    gate = tmp_path / "gate"
    with culmen.Executor(2) as pool:
        long = pool.submit(lambda: wait_for(gate.exists, "the gate"))
        short = [pool.submit(time.sleep, 0.03) for _ in range(3)]
        assert concurrent.futures.wait(short, timeout=HANGS_S).not_done == set()
        assert not long.done()
        gate.touch()
