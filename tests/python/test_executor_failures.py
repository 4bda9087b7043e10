"""culmen.Executor: calls that fail, workers that crash, and wrong arguments."""

import os
import signal
import sys
import threading
import time

import pytest

import culmen

pytestmark = pytest.mark.no_numbers


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


def test_a_crash_is_that_futures_alone(executor):
    crash, fine = executor.submit(os.kill, 0, signal.SIGSEGV), executor.submit(len, "abc")
    assert fine.result() == 3
    with pytest.raises(culmen.EvaluationError, match="was killed by SIGSEGV") as caught:
        crash.result()
    assert caught.value.status == "crashed"
    assert executor.submit(len, "ab").result() == 2


def test_a_call_over_the_time_limit_is_killed_and_the_rest_goes_on():
    with culmen.Executor(1, time_limit_s=2) as pool:
        slow, fine = pool.submit(time.sleep, 60), pool.submit(len, "abc")
        with pytest.raises(culmen.EvaluationError, match="time limit of 2 s passed"):
            slow.result()
        assert fine.result() == 3


def test_an_initializer_that_fails_is_every_futures_sentence():
    with culmen.Executor(2, initializer=raise_, initargs=(ValueError, "no licence")) as pool:
        error = pool.submit(len, "a").exception()
        assert "the initializer failed: ValueError: no licence" in str(error)
        with pytest.raises(culmen.CulmenError, match="no licence"):
            pool.submit(len, "a")


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
