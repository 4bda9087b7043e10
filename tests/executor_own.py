"""The promises of culmen.Executor beyond those of concurrent.futures."""

import concurrent.futures as cf
import itertools
import logging
import operator
import os
import sys
import threading
import time

import executor_helpers
from executor_helpers import Blocked, fail, nap, own, raised, wait_for

import culmen


class EndsWhereItArrives:
    def __init__(self, kind):
        self._kind = kind

    def __reduce__(self):
        return fail, (self._kind,)


@own
def what_would_end_a_program_ends_neither_its_executor_nor_other_futures(make):
    """In a call, in a callback, and in what comes back."""
    logger = logging.getLogger("concurrent.futures")
    lock, seen = threading.Lock(), []
    with make() as pool:
        logger.disabled = True
        for kind in (SystemExit, KeyboardInterrupt):
            with Blocked(pool):
                ends, unsendable = pool.submit(nap, 3), pool.submit(nap, 4)
                ends.add_done_callback(lambda _, kind=kind: fail(kind, "in a callback"))
                unsendable.add_done_callback(lambda _: pool.submit(nap, lock))
            assert (ends.result(executor_helpers.PATIENCE_S), unsendable.result(executor_helpers.PATIENCE_S)) == (3, 4)
            assert isinstance(pool.submit(fail, kind).exception(executor_helpers.PATIENCE_S), kind)
            back = pool.submit(EndsWhereItArrives, kind)
            assert kind.__name__ in str(back.exception(executor_helpers.PATIENCE_S))
            seen += pool.map(nap, range(5), timeout=executor_helpers.PATIENCE_S)
        with Blocked(pool):
            cancelled = pool.submit(nap, 5)
            cancelled.add_done_callback(lambda _: fail(SystemExit))
            pool.stop()
        assert cf.wait([cancelled], executor_helpers.PATIENCE_S).done
        logger.disabled = False
    assert seen == [*range(5), *range(5)]


@own
def who_waits_knows_at_once_what_was_cancelled(make):
    with make() as pool, Blocked(pool):
        waiting = [pool.submit(nap, n) for n in range(9)]
        assert waiting[4].cancel()
        assert next(cf.as_completed(waiting)) is waiting[4]
        assert cf.wait(waiting, 0).done == {waiting[4]}
        pool.shutdown(wait=False, cancel_futures=True)
        assert cf.wait(waiting, 0).done == set(waiting)


def stop(n):
    if n == 3:
        raise StopIteration
    return n


@own
def a_function_that_raises_stopiteration_does_not_end_a_map_early(make):
    with make() as pool:
        for chunksize in (1, 5):
            error = raised(RuntimeError, list, pool.map(stop, range(9), chunksize=chunksize))
            assert isinstance(error.__cause__, StopIteration)


@own
def a_map_over_what_never_ends_goes_as_far_as_it_is_asked(make):
    drawn = itertools.count()
    with make() as pool:
        for chunksize, least in ((1, 20), (3, 20)):
            before = next(drawn)
            squares = pool.map(operator.mul, drawn, itertools.repeat(2), chunksize=chunksize, buffersize=4)
            assert list(itertools.islice(squares, least)) == [2 * (before + 1 + n) for n in range(least)]
            del squares
            assert next(drawn) <= before + least + 6 * chunksize


@own
def the_next_may_begin_before_the_last_has_ended(make):
    last = make()
    sent = [last.submit(nap, n) for n in range(9)]
    last.shutdown(wait=False)
    with make() as pool:
        assert pool.submit(nap, 1).result() == 1
    assert [future.result() for future in sent] == list(range(9))


@own
def stop_ends_what_runs_and_cancels_all(make):
    pool = make()
    sent = [pool.submit(time.sleep, 1000) for _ in range(9)]
    wait_for(sent[0].running, "a call that runs")
    pool.stop()
    pool.shutdown()
    assert all(future.cancelled() for future in sent)
    assert cf.wait(sent, executor_helpers.PATIENCE_S).not_done == set()
    raised(RuntimeError, pool.submit, nap, 1)


@own
def lambdas_closures_and_local_classes_travel(make):
    class Local:
        def __init__(self, n):
            self.n = n

        def times(self, m):
            return Local(self.n * m)

    with make() as pool:
        assert pool.submit(Local(3).times, 5).result().n == 15
        assert type(pool.submit(Local, 1).result()) is Local
        assert list(pool.map(lambda x, k=2: x**k, range(4))) == [0, 1, 4, 9]


@own
def a_child_that_ends_is_that_futures_failure(make):
    with make() as pool:
        ends = [pool.submit(os._exit, 3), pool.submit(os.kill, 0, 9)]
        for future, word in zip(ends, ("ended with exit code 3", "SIGKILL"), strict=True):
            error = future.exception()
            assert (type(error), error.status) == (culmen.EvaluationError, "crashed")
            assert word in str(error)
        assert pool.submit(nap, 3).result() == 3


@own
def a_call_over_the_time_limit_is_killed(make):
    with make(time_limit_s=2) as pool:
        slow, fine = pool.submit(time.sleep, 60), pool.submit(nap, 1)
        assert slow.exception().status == "timed out"
        assert fine.result() == 1


@own
def what_cannot_be_pickled_is_one_sentence(make):
    lock = threading.Lock()
    with make() as pool:
        for call in (lambda: pool.submit(lock.acquire), lambda: pool.submit(nap, lock), lambda: pool.map(nap, [lock])):
            error = raised(culmen.InputError, call)
            assert "cannot be pickled" in str(error)
            assert "\n" not in str(error)
        for function in (threading.Lock, lambda: (n for n in range(3))):
            assert "cannot be sent back" in str(pool.submit(function).exception())
        assert pool.submit(nap, 1).result() == 1


def recurse(n):
    return 1 + recurse(n + 1)


@own
def what_a_function_does_to_its_process_harms_nobody(make):
    def prints():
        print("on stdout")
        print("on stderr", file=sys.stderr)
        os.write(1, b"on the descriptor\n")
        return 1

    def threads():
        thread = threading.Thread(target=time.sleep, args=(1000,), daemon=True)
        thread.start()
        return threading.active_count()

    def forks():
        os.fork()
        return 3

    def closes():
        sys.stdout.close()
        sys.stdin.close()
        return 4

    with make() as pool:
        assert [pool.submit(f).result() for f in (prints, threads, forks, closes)] == [1, 2, 3, 4]
        assert isinstance(pool.submit(recurse, 0).exception(), RecursionError)
        assert isinstance(pool.submit(sys.exit, 3).exception(), SystemExit)
        assert isinstance(pool.submit(fail, KeyboardInterrupt).exception(), KeyboardInterrupt)
        assert pool.submit(nap, 1).result() == 1


@own
def large_things_travel_both_ways(make):
    import numpy as np

    array = np.arange(2_000_000, dtype=float)
    with make() as pool:
        assert np.array_equal(pool.submit(operator.neg, array).result(), -array)
        assert pool.submit(lambda: array.sum()).result() == array.sum()


def inner(n):
    with culmen.Executor(2, "threads") as pool:
        return sum(pool.map(nap, range(n)))


@own
def a_call_may_have_an_executor_of_its_own(make):
    with make() as pool:
        assert list(pool.map(inner, [3, 4])) == [3, 6]
