"""The promises of concurrent.futures. The pools of the standard library keep them too."""

import asyncio
import concurrent.futures as cf
import functools
import gc
import logging
import operator
import os
import tempfile
import threading
import time
import weakref
from pathlib import Path

import executor_helpers
from executor_helpers import Blocked, capture, fail, nap, promise, raised, wait_for


@promise
def arguments_of_any_name_arrive(make):
    with make() as pool:
        assert pool.submit(capture, 1, self=5, fn=6).result() == ((1,), {"self": 5, "fn": 6})


@promise
def a_map_keeps_the_order(make):
    with make() as pool:
        for chunksize in (1, 7, 1000):
            assert list(pool.map(nap, range(40), chunksize=chunksize)) == list(range(40))
            assert list(pool.map(pow, range(9), [2] * 5, chunksize=chunksize)) == [0, 1, 4, 9, 16]
        pairs = iter(range(6))
        assert list(pool.map(capture, pairs, pairs, chunksize=2)) == [((n, n + 1), {}) for n in (0, 2, 4)]
        assert list(pool.map(len, [])) == []


@promise
def a_map_evaluates_before_it_is_asked_for_a_result(make):
    with make() as pool, tempfile.TemporaryDirectory() as folder:
        results = pool.map(Path.touch, [Path(folder) / str(n) for n in range(3)])
        wait_for(lambda: len(list(Path(folder).iterdir())) == 3, "the calls of a map")
        assert list(results) == [None] * 3


@promise
def an_exception_in_a_map_is_raised_at_its_turn(make):
    with make() as pool:
        for chunksize in (1, 2):
            results = pool.map(divmod, [4] * 4, [1, 2, 0, 4], chunksize=chunksize)
            assert chunksize == 2 or [next(results), next(results)] == [(4, 0), (2, 0)]
            raised(ZeroDivisionError, list, results)


@promise
def an_exception_of_what_is_mapped_over_is_raised_at_once(make):
    def broken():
        yield 1
        raise LookupError("no more")

    with make() as pool:
        for chunksize in (1, 5):
            raised(LookupError, pool.map, nap, broken(), chunksize=chunksize)
        assert pool.submit(nap, 1).result() == 1


@promise
def a_map_and_a_result_end_with_their_timeouts(make):
    with make() as pool, Blocked(pool) as blocked:
        raised(cf.TimeoutError, list, pool.map(nap, range(3), timeout=0.01))
        raised(cf.TimeoutError, blocked.running.result, 0.01)
        raised(cf.TimeoutError, blocked.running.exception, timeout=0)


@promise
def wait_says_what_is_done(make):
    with make() as pool:
        with Blocked(pool) as blocked:
            assert cf.wait([blocked.running], timeout=0.01) == (set(), {blocked.running})
        quick, wrong = pool.submit(nap, 0), pool.submit(fail, KeyError, "gone")
        assert quick.result() == 0
        assert quick in cf.wait([quick, wrong], return_when=cf.FIRST_COMPLETED).done
        assert wrong in cf.wait([quick, wrong], return_when=cf.FIRST_EXCEPTION).done
        assert cf.wait([quick, wrong, quick]) == ({quick, wrong}, set())


@promise
def as_completed_gives_each_once_and_those_that_were_cancelled(make):
    with make() as pool:
        with Blocked(pool) as blocked:
            waiting = [pool.submit(nap, n) for n in range(9)]
            assert waiting[4].cancel()
            raised(cf.TimeoutError, list, cf.as_completed([blocked.running], timeout=0.01))
        assert sorted(map(id, cf.as_completed(waiting * 2))) == sorted(map(id, waiting))
        raised(cf.CancelledError, waiting[4].result)


@promise
def a_future_says_that_it_runs_and_cannot_be_cancelled_then(make):
    with make() as pool:
        with Blocked(pool) as blocked:
            waiting = pool.submit(nap, 1)
            assert blocked.running.running()
            assert not blocked.running.cancel()
            assert not blocked.running.done()
            assert not waiting.running()
            assert waiting.cancel()
            assert waiting.cancel()
            assert waiting.done()
            assert waiting.cancelled()
            assert not waiting.running()
        assert blocked.running.result() is True
        assert not blocked.running.running()
        assert not blocked.running.cancel()


@promise
def whoever_cancels_first_every_thread_is_told_the_same(make):
    with make() as pool, Blocked(pool):
        for _ in range(50):
            future, seen, begin = pool.submit(nap, 1), [], threading.Barrier(4)

            def cancel(future=future, seen=seen, begin=begin):
                begin.wait()
                seen.append(future.cancel())

            threads = [threading.Thread(target=cancel) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert seen == [True] * 4


@promise
def what_is_cancelled_while_it_is_handed_out_is_either_cancelled_or_evaluated(make):
    with make() as pool, tempfile.TemporaryDirectory() as folder:
        for n in range(200):
            trace = Path(folder) / str(n)
            future = pool.submit(trace.touch)
            if n % 2:
                time.sleep(0.0002)
            cancelled = future.cancel()
            assert cancelled == future.cancelled()
            if not cancelled:
                assert future.result() is None
            assert trace.exists() != cancelled


@promise
def callbacks_come_in_order_and_once_whatever_they_raise(make):
    seen, done = [], threading.Event()
    logger = logging.getLogger("concurrent.futures")
    with make() as pool:
        logger.disabled = True
        with Blocked(pool):
            future, cancelled = pool.submit(nap, 3), pool.submit(nap, 4)
            future.add_done_callback(lambda f: seen.append(f.result()))
            future.add_done_callback(lambda f: fail(ZeroDivisionError, "in a callback: it is logged"))
            future.add_done_callback(lambda f: seen.append(f is future))
            future.add_done_callback(lambda f: done.set())
            cancelled.add_done_callback(lambda f: seen.append(f.cancelled()))
            assert cancelled.cancel()
            assert seen == [True]
        assert done.wait(executor_helpers.PATIENCE_S)
        logger.disabled = False
        future.add_done_callback(lambda f: seen.append("late"))
    assert seen == [True, 3, True, "late"]


@promise
def a_callback_may_submit(make):
    chain = []
    ended = threading.Event()

    def further(future):
        chain.append(future.result())
        if len(chain) < 5:
            pool.submit(operator.add, chain[-1], 1).add_done_callback(further)
        else:
            ended.set()

    with make() as pool:
        pool.submit(nap, 1).add_done_callback(further)
        assert ended.wait(executor_helpers.PATIENCE_S)
    assert chain == [1, 2, 3, 4, 5]


def fail_from():
    error = ValueError("negative mass")
    if hasattr(error, "add_note"):
        error.add_note("in cell 3")
    raise error from KeyError("mass")


@promise
def an_exception_is_the_same_with_the_remote_traceback(make):
    with make() as pool:
        error = pool.submit(fail_from).exception()
        assert (type(error), error.args) == (ValueError, ("negative mass",))
        assert getattr(error, "__notes__", ["in cell 3"]) == ["in cell 3"]
        for part in ("in fail_from", "KeyError: 'mass'", "direct cause"):
            assert part in str(error.__cause__)


@promise
def nothing_is_held_of_what_is_done(make):
    seen = [weakref.ref(make)]

    def ends(thing):
        seen[0] = weakref.ref(thing)

    def gone():
        gc.collect()
        return seen[0]() is None

    with make() as pool:
        for result in pool.map(functools.partial, [nap] * 3):
            ends(result)
            del result
            wait_for(gone, "the end of a result of map")
        future = pool.submit(functools.partial, nap)
        ends(future.result())
        del future
        wait_for(gone, "the end of a result")
        ends(argument := functools.partial(nap))
        future = pool.submit(callable, argument)
        del argument
        assert future.result() is True
        wait_for(gone, "the end of an argument")


@promise
def shutdown_waits_and_nothing_is_taken_after_it(make):
    pool = make()
    sent = [pool.submit(nap, n) for n in range(20)]
    pool.shutdown()
    assert all(future.done() for future in sent)
    for call in (lambda: pool.submit(nap, 1), lambda: pool.map(nap, [1])):
        assert "shut" in str(raised(RuntimeError, call))
    pool.shutdown()


@promise
def shutdown_need_not_wait(make):
    pool = make()
    sent = [pool.submit(nap, n) for n in range(20)]
    pool.shutdown(wait=False)
    assert [future.result() for future in sent] == list(range(20))
    pool.shutdown()


@promise
def shutdown_can_cancel_what_waits(make):
    pool = make()
    with Blocked(pool) as blocked:
        waiting = [pool.submit(nap, n) for n in range(20)]
        pool.shutdown(wait=False, cancel_futures=True)
    pool.shutdown()
    assert all(future.cancelled() for future in waiting)
    assert blocked.running.result() is True


@promise
def many_threads_submit_at_once(make):
    sums = []

    def use(n):
        sums.append(sum(f.result() for f in [pool.submit(operator.add, n, i) for i in range(100)]))

    with make() as pool:
        threads = [threading.Thread(target=use, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(sums) == [100 * n + 4950 for n in range(4)]


@promise
def asyncio_awaits_its_futures(make):
    async def main():
        loop = asyncio.get_running_loop()
        return await asyncio.gather(*(loop.run_in_executor(pool, pow, n, 2) for n in range(5)))

    with make() as pool:
        assert asyncio.run(main()) == [0, 1, 4, 9, 16]


@promise
def the_initializer_runs_in_every_child(make):
    with make(initializer=_set_mark, initargs=("here",)) as pool:
        assert set(pool.map(os.getenv, ["MARK"] * 20)) == {"here"}


def _set_mark(mark):
    os.environ["MARK"] = mark


@promise
def a_failing_initializer_breaks_it(make):
    with make(initializer=fail, initargs=(ValueError, "no licence")) as pool:
        assert isinstance(pool.submit(nap, 1).exception(), cf.BrokenExecutor)
        raised(cf.BrokenExecutor, pool.submit, nap, 1)
