"""culmen.Executor: what a program submits, and what it gets back."""

import concurrent.futures
import functools
import gc
import operator
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from harness import Running, environment, wait_for

import culmen


@pytest.fixture(scope="module")
def executor():
    with culmen.Executor(2) as pool:
        yield pool


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


def test_what_a_function_calls_is_as_it_was_when_it_was_submitted(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import culmen\nscale = 2\ndef inner(x): return x * scale\ndef outer(x): return inner(x) + 1\n"
        "with culmen.Executor(1) as pool:\n    print(pool.submit(outer, 3).result())\n"
        "    scale = 5\n    print(pool.submit(outer, 3).result())\n"
        "    def inner(x): return -x\n    print(pool.submit(outer, 3).result())\n"
    )
    done = run_python(script)
    assert (done.stdout, done.stderr) == ("7\n16\n-2\n", "")


class OwnError(Exception):
    pass


class StubbornError(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def raise_(kind, *arguments):
    raise kind(*arguments)


def test_an_exception_comes_back_as_it_was_raised_with_the_remote_traceback(executor):
    for kind in (ValueError, OwnError):
        error = executor.submit(raise_, kind, "negative mass").exception()
        assert type(error) is kind
        assert str(error) == "negative mass"
        assert "in raise_" in str(error.__cause__)
    assert isinstance(executor.submit(sys.exit, 3).exception(), SystemExit)


def test_an_exception_that_cannot_be_made_again_comes_as_its_sentence(executor):
    error = executor.submit(raise_, StubbornError, 1, 2).exception()
    assert str(error).endswith("StubbornError: 1 and 2")


def test_a_class_of_the_program_is_the_same_class_when_it_comes_back(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import culmen\nclass Point:\n    def __init__(self, x): self.x = x\n"
        "def move(p): return Point(p.x + 1)\n"
        "with culmen.Executor(1) as pool:\n    got = pool.submit(move, Point(1)).result()\n"
        "    print(type(got) is Point, got.x)\n"
    )
    done = run_python(script)
    assert (done.stdout, done.stderr) == ("True 2\n", "")


def run_python(*words):
    command = [sys.executable, "-X", "dev", *map(str, words)]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=30)


def test_a_crash_is_that_futures_alone(executor):
    crash, fine = executor.submit(os.kill, 0, signal.SIGSEGV), executor.submit(len, "abc")
    assert fine.result() == 3
    with pytest.raises(culmen.EvaluationError, match="was killed by SIGSEGV") as caught:
        crash.result()
    assert caught.value.status == "crashed"
    assert executor.submit(len, "ab").result() == 2


def test_a_call_over_the_time_limit_is_killed_and_the_rest_goes_on():
    with culmen.Executor(1, time_limit_s=0.2) as pool:
        slow, fine = pool.submit(time.sleep, 60), pool.submit(len, "abc")
        with pytest.raises(culmen.EvaluationError, match=r"time limit of 0\.2 s passed"):
            slow.result()
        assert fine.result() == 3


def test_the_initializer_runs_in_every_child():
    with culmen.Executor(2, initializer=lambda mark: os.environ.update(MARK=mark), initargs=("here",)) as pool:
        assert set(pool.map(lambda _: os.environ["MARK"], range(20))) == {"here"}


def test_an_initializer_that_fails_is_every_futures_sentence():
    with culmen.Executor(2, initializer=raise_, initargs=(ValueError, "no licence")) as pool:
        error = pool.submit(len, "a").exception()
        assert "the initializer failed: ValueError: no licence" in str(error)
        with pytest.raises(culmen.CulmenError, match="no licence"):
            pool.submit(len, "a")


def test_what_waits_can_be_cancelled_and_what_runs_cannot(tmp_path):
    gate = tmp_path / "gate"
    with culmen.Executor(1) as pool:
        begun = pool.submit(lambda: wait_for(gate.exists, "the gate"))
        waiting = [pool.submit(len, "abc") for _ in range(10)]
        last = waiting.pop()
        assert last.cancel()
        assert last.cancel()
        assert last.cancelled()
        gate.touch()
        assert begun.result() is True
        assert not begun.cancel()
        done, _ = concurrent.futures.wait([last, *waiting], timeout=20)
        assert len(done) == 10
        assert [future.result() for future in waiting] == [3] * 9


def test_nothing_waits_behind_a_long_call_without_prefetch(tmp_path):
    gate = tmp_path / "gate"
    with culmen.Executor(2, prefetch=False) as pool:
        assert sum(pool.map(len, ["a"] * 50)) == 50
        long = pool.submit(lambda: wait_for(gate.exists, "the gate"))
        assert sum(pool.map(len, ["a"] * 50, timeout=20)) == 50
        assert not long.done()
        gate.touch()
        assert long.result() is True


def test_shutdown_can_cancel_what_waits():
    pool = culmen.Executor(1)
    sent = [pool.submit(time.sleep, 0.01) for _ in range(50)]
    pool.shutdown(cancel_futures=True)
    assert all(future.done() for future in sent)
    assert sum(future.cancelled() for future in sent) > 40


def test_shutdown_without_waiting_still_finishes_what_was_sent():
    pool = culmen.Executor(1)
    sent = pool.map(len, ["a"] * 20)
    pool.shutdown(wait=False)
    assert sum(sent) == 20


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


def close(results):
    assert next(results) == 0
    results.close()


def fail(results):
    with pytest.raises(ZeroDivisionError):
        list(results)


def time_out(results):
    with pytest.raises(concurrent.futures.TimeoutError):
        list(results)


@pytest.mark.parametrize(("end", "timeout"), [(close, None), (fail, None), (time_out, 0)])
def test_what_is_left_of_a_map_is_cancelled_when_it_ends(tmp_path, end, timeout):
    first_fails = end is fail

    def call(n):
        (tmp_path / str(n)).touch()
        if n == 1:
            wait_for((tmp_path / "gate").exists, "the gate")
        return n // (n or not first_fails)

    with culmen.Executor(1, prefetch=False) as pool:
        results = pool.map(call, range(20), timeout=timeout)
        wait_for((tmp_path / "1").exists, "the second item")
        end(results)
        (tmp_path / "gate").touch()
        assert pool.submit(len, "next").result() == 4
        assert {path.name for path in tmp_path.iterdir()} == {"0", "1", "gate"}


def test_scipys_differential_evolution_finds_the_same_as_with_its_own_pool(executor):
    optimize = pytest.importorskip("scipy.optimize")

    def find(workers):
        return optimize.differential_evolution(
            optimize.rosen, [(-5, 5)] * 3, seed=3, maxiter=20, updating="deferred", workers=workers
        )

    ours, theirs = find(executor.map), find(2)
    assert ours.x.tobytes() == theirs.x.tobytes()
    assert (ours.fun, ours.nfev) == (theirs.fun, theirs.nfev)


FORGOTTEN = """
import culmen, time
pool = culmen.Executor(2)
def slow(i): time.sleep(0.05); return i
sent = [pool.submit(slow, i) for i in range(4)]
sent[3].add_done_callback(lambda f: print("done", f.result()))
"""


def test_a_forgotten_executor_finishes_its_work_when_the_program_ends(tmp_path):
    (tmp_path / "forgotten.py").write_text(FORGOTTEN)
    done = run_python(tmp_path / "forgotten.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "done 3\n", "")


SLEEPING = """
import culmen, time, sys
with culmen.Executor(2, sys.argv[1]) as pool:
    sent = [pool.submit(time.sleep, 1000) for _ in range(9)]
    print("begun", flush=True)
    sent[0].result()
"""


@pytest.mark.parametrize("transport", ["threads", "processes"])
def test_ctrl_c_ends_it_at_once_and_leaves_nobody_behind(tmp_path, transport, monkeypatch):
    (tmp_path / "sleeping.py").write_text(SLEEPING)
    monkeypatch.setattr("harness.CULMEN", [sys.executable, "-X", "dev"])
    with Running("sleeping.py", transport, cwd=tmp_path) as run:
        wait_for(lambda: "culmen.slot" in str(run.processes().values()), "a child")
        assert run.process.stdout.readline() == "begun\n"
        run.process.send_signal(signal.SIGINT)
        code, _, err = run.end()
        wait_for(lambda: not run.processes(), "the end of every process")
    assert code == -signal.SIGINT
    assert "KeyboardInterrupt" in err
    assert "Warning" not in err


WRONG = {
    "workers": (lambda: culmen.Executor(0), "workers must be a whole number, at least 1, or None, got 0"),
    "transport": (lambda: culmen.Executor(1, "pigeon"), "transport must be one of auto, threads, processes, mpi"),
    "mpi": (lambda: culmen.Executor(1, "mpi"), "not a rank of an MPI launch"),
    "initializer": (lambda: culmen.Executor(1, initializer=3), "initializer must be a function or None, got 3"),
    "time limit": (lambda: culmen.Executor(1, time_limit_s=0), "time_limit_s must be a number of seconds above 0"),
    "text as time limit": (
        lambda: culmen.Executor(1, time_limit_s="3"),
        "time_limit_s must be a number of seconds above 0",
    ),
    "two numbers": (lambda: culmen.Executor(1, max_workers=2), "workers and max_workers mean the same"),
    "initargs": (lambda: culmen.Executor(1, initializer=len, initargs=3), "initargs must be a tuple"),
    "prefetch": (lambda: culmen.Executor(1, prefetch="no"), "prefetch must be True or False, got 'no'"),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_executor_is_one_sentence(mistake):
    make, sentence = WRONG[mistake]
    with pytest.raises(culmen.InputError, match=sentence) as caught:
        make()
    assert "\n" not in str(caught.value)


WRONG_CALLS = {
    "not a function": (lambda pool: pool.submit(3), "the first argument must be a function, got 3"),
    "function": (lambda pool: pool.submit(threading.Lock().acquire), "lock.acquire cannot be pickled"),
    "arguments": (lambda pool: pool.submit(len, threading.Lock()), "the arguments cannot be pickled"),
    "chunksize": (
        lambda pool: pool.map(len, ["a"], chunksize=0),
        "chunksize must be a whole number, at least 1, got 0",
    ),
    "chunksize of starmap": (
        lambda pool: pool.starmap(len, ["a"], 0.5),
        r"chunksize must be a whole number, at least 1, got 0\.5",
    ),
    "buffersize": (
        lambda pool: pool.map(len, ["a"], buffersize=0),
        "buffersize must be a whole number, at least 1, or None, got 0",
    ),
}


@pytest.mark.parametrize("mistake", WRONG_CALLS)
def test_a_wrong_call_is_one_sentence(executor, mistake):
    call, sentence = WRONG_CALLS[mistake]
    with pytest.raises(culmen.InputError, match=sentence) as caught:
        call(executor)
    assert "\n" not in str(caught.value)


def test_a_result_that_cannot_be_sent_back_is_one_sentence(executor):
    error = executor.submit(threading.Lock).exception()
    assert "the function's result (lock) cannot be sent back" in str(error)


def test_nothing_is_taken_after_shutdown():
    pool = culmen.Executor(1)
    pool.shutdown()
    with pytest.raises(culmen.InputError, match="was shut down"):
        pool.submit(len, "a")
    pool.shutdown()


def test_the_number_of_workers_may_have_the_name_of_the_standard_library_and_be_numpys():
    with culmen.Executor(max_workers=np.int64(2)) as pool:
        assert pool.workers == 2
        assert list(pool.map(abs, range(4), chunksize=np.int64(3))) == [0, 1, 2, 3]


def test_long_calls_begin_in_their_order_and_nothing_waits_behind_one(tmp_path):
    gate = tmp_path / "gate"
    with culmen.Executor(2) as pool:
        long = pool.submit(lambda: wait_for(gate.exists, "the gate"))
        short = [pool.submit(time.sleep, 0.03) for _ in range(3)]
        assert concurrent.futures.wait(short, timeout=20).not_done == set()
        assert not long.done()
        gate.touch()


FORKING = """
import culmen, os, sys
pool = culmen.Executor(1)
print(pool.submit(len, "ab").result(), flush=True)
copy = os.fork()
if copy == 0:
    try:
        pool.submit(len, "ab")
    except culmen.InputError as e:
        print(e)
    pool.shutdown()
    with culmen.Executor(1) as own:
        print(own.submit(len, "abc").result())
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]), pool.submit(len, "abcd").result())
"""


def test_a_fork_of_the_program_may_end_and_have_executors_of_its_own(tmp_path):
    (tmp_path / "forking.py").write_text(FORKING)
    done = run_python(tmp_path / "forking.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "2",
        "this executor belongs to the parent of this process, which os.fork() made; make a new executor here",
        "3",
        "7 4",
    ]


class Slowly:
    """An engine's run whose ``cancel`` stops between what it does and what it says."""

    def __init__(self, run, meanwhile):
        self._run = run
        self._meanwhile = meanwhile

    def __getattr__(self, name):
        return getattr(self._run, name)

    def cancel(self, number):
        done = self._run.cancel(number)
        self._meanwhile()
        return done


def test_who_cancels_while_another_cancels_is_told_the_same(tmp_path, monkeypatch):
    inside, on = threading.Event(), threading.Event()
    seen = []
    with culmen.Executor(1, prefetch=False) as pool:
        begun = pool.submit(lambda: wait_for((tmp_path / "gate").exists, "the gate"))
        future = pool.submit(len, "abc")
        monkeypatch.setattr(pool._pool, "_run", Slowly(pool._pool._run, lambda: inside.set() or on.wait(20)))
        threads = [threading.Thread(target=lambda: seen.append(future.cancel())) for _ in range(2)]
        threads[0].start()
        assert inside.wait(20)
        threads[1].start()
        threads[1].join(0.05)  # either it is told too early, or it waits for the first
        on.set()
        for thread in threads:
            thread.join()
        (tmp_path / "gate").touch()
        assert begun.result() is True
    assert seen == [True, True]


def test_who_cancels_while_the_executor_breaks_gets_no_error(monkeypatch):
    pool = culmen.Executor(1, initializer=raise_, initargs=(ValueError, "no licence"))
    sent = pool.submit(len, "abc")
    monkeypatch.setattr(pool._pool, "_run", Slowly(pool._pool._run, lambda: wait_for(sent.done, "the end")))
    sent.cancel()
    assert sent.done()
    pool.shutdown()
