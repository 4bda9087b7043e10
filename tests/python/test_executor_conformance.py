"""culmen.Executor over the transports of one machine keeps the promises of concurrent.futures; and who breaks them is
caught. tests/mpi/test_executor_mpi.py goes through the same kit on the ranks of both MPIs."""

import concurrent.futures
import multiprocessing

import executor_helpers
import executor_kit
import pytest

import culmen

pytestmark = pytest.mark.no_numbers

TRANSPORTS = ("threads", "processes")


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("check", executor_kit.PROMISES | executor_kit.OWN)
def test_executor(check, transport):
    (executor_kit.PROMISES | executor_kit.OWN)[check](lambda **words: culmen.Executor(2, transport, **words))


def standard(kind=concurrent.futures.ProcessPoolExecutor):
    return lambda **words: kind(2, mp_context=multiprocessing.get_context("fork"), **words)


@pytest.mark.parametrize("check", executor_kit.PROMISES)
def test_the_standard_librarys_pool_keeps_what_is_promised(check):
    executor_kit.PROMISES[check](standard())


class NeverRuns(culmen.Executor):
    def submit(self, fn, /, *args, **kwargs):
        future = super().submit(fn, *args, **kwargs)
        future.running = lambda: False
        return future


class CancelsWhatRuns(culmen.Executor):
    def submit(self, fn, /, *args, **kwargs):
        future = super().submit(fn, *args, **kwargs)
        future.cancel = lambda: True
        return future


class AnyOrder(culmen.Executor):
    def map(self, fn, *iterables, **words):
        return reversed(list(super().map(fn, *iterables, **words)))


class NoCause(culmen.Executor):
    def submit(self, fn, /, *args, **kwargs):
        future = super().submit(fn, *args, **kwargs)
        future.add_done_callback(lambda f: f.cancelled() or setattr(f.exception(), "__cause__", None))
        return future


class Hoards(culmen.Executor):
    def submit(self, fn, /, *args, **kwargs):
        self.__dict__.setdefault("sent", []).append((args, future := super().submit(fn, *args, **kwargs)))
        return future


class Leaves(culmen.Executor):
    def shutdown(self, wait=True, *, cancel_futures=False):
        super().shutdown(False, cancel_futures=cancel_futures)


class Lazy(culmen.Executor):
    def map(self, fn, *iterables, chunksize=1, timeout=None):
        return (self.submit(fn, *call).result() for call in zip(*iterables, strict=False))


BROKEN = {
    NeverRuns: "a_future_says_that_it_runs_and_cannot_be_cancelled_then",
    CancelsWhatRuns: "what_is_cancelled_while_it_is_handed_out_is_either_cancelled_or_evaluated",
    AnyOrder: "a_map_keeps_the_order",
    NoCause: "an_exception_is_the_same_with_the_remote_traceback",
    Hoards: "nothing_is_held_of_what_is_done",
    Leaves: "shutdown_waits_and_nothing_is_taken_after_it",
    Lazy: "a_map_evaluates_before_it_is_asked_for_a_result",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_executor_is_caught(kind, monkeypatch):
    monkeypatch.setattr(executor_helpers, "PATIENCE_S", 1)
    with pytest.raises((AssertionError, AttributeError)):
        executor_kit.PROMISES[BROKEN[kind]](lambda **words: kind(2, "threads", **words))
