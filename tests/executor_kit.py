"""What every transport of culmen.Executor must do: ``executor_kit.py TRANSPORT`` goes through all.

PROMISES are those of concurrent.futures, and hold for the standard library's pool too; OWN are culmen.Executor's.
A check is given ``make(**arguments)``, which makes an executor; under MPI there is one at a time.
"""

import asyncio
import concurrent.futures as cf
import functools
import gc
import itertools
import logging
import operator
import os
import sys
import tempfile
import threading
import time
import traceback
import weakref
from collections.abc import Callable
from pathlib import Path

import harness

import culmen

PATIENCE_S = 30
Make = Callable[..., cf.Executor]
PROMISES: dict[str, Callable[[Make], None]] = {}
OWN: dict[str, Callable[[Make], None]] = {}


def wait_for(condition, what):
    return harness.wait_for(condition, what, PATIENCE_S)


def promise(check):
    PROMISES[check.__name__] = check
    return check


def own(check):
    OWN[check.__name__] = check
    return check


def raised(kind, call, *arguments, **keywords):
    """The exception that it must raise."""
    try:
        call(*arguments, **keywords)
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def hold(path):
    return wait_for(Path(path).exists, "the gate")


def announce_and_hold(folder):
    (Path(folder) / "running").touch()
    return hold(Path(folder) / "gate")


def capture(*arguments, **keywords):
    return arguments, keywords


def fail(kind, *arguments):
    raise kind(*arguments)


def nap(i):
    time.sleep(0.002 * (i % 3))
    return i


class Blocked:
    """Every worker is busy, and has what is sent ahead; what comes later waits. Inside ``with``."""

    def __init__(self, pool):
        self._folder = tempfile.TemporaryDirectory()
        gate = Path(self._folder.name) / "gate"
        self.running = pool.submit(announce_and_hold, self._folder.name)
        self.behind = [pool.submit(hold, gate) for _ in range(3 * pool._max_workers)]
        wait_for((Path(self._folder.name) / "running").exists, "a call that runs")
        self.open = gate.touch

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.open()
        wait_for(lambda: all(future.done() for future in [self.running, *self.behind]), "the end of what was held")
        self._folder.cleanup()


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
        assert done.wait(PATIENCE_S)
        logger.disabled = False
        future.add_done_callback(lambda f: seen.append("late"))
    assert seen == [True, 3, True, "late"]


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
            assert (ends.result(PATIENCE_S), unsendable.result(PATIENCE_S)) == (3, 4)
            assert isinstance(pool.submit(fail, kind).exception(PATIENCE_S), kind)
            back = pool.submit(EndsWhereItArrives, kind)
            assert kind.__name__ in str(back.exception(PATIENCE_S))
            seen += pool.map(nap, range(5), timeout=PATIENCE_S)
        with Blocked(pool):
            cancelled = pool.submit(nap, 5)
            cancelled.add_done_callback(lambda _: fail(SystemExit))
            pool.stop()
        assert cf.wait([cancelled], PATIENCE_S).done
        logger.disabled = False
    assert seen == [*range(5), *range(5)]


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
        assert ended.wait(PATIENCE_S)
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
    assert cf.wait(sent, PATIENCE_S).not_done == set()
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
        for future, word in zip(ends, ("left with exit code 3", "SIGKILL"), strict=True):
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


def run(checks, make, say):
    """Goes through all; how many failed."""
    failed = 0
    for name, check in checks.items():
        try:
            check(make)
            say(f"ok {name}")
        except Exception:
            failed += 1
            say(f"FAILED {name}\n{traceback.format_exc()}")
    return failed


if __name__ == "__main__":
    transport = sys.argv[1]
    workers = None if transport == "mpi" else 2
    say = functools.partial(print, flush=True)
    sys.exit(run(PROMISES | OWN, lambda **words: culmen.Executor(workers, transport, **words), say) > 0)
