"""culmen.Executor: calls that are cancelled, and executors that shut down."""

import concurrent.futures
import threading

import pytest
from executor_helpers import fail as raise_
from harness import HANGS_S, wait_for

import culmen

pytestmark = pytest.mark.no_numbers


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
        done, _ = concurrent.futures.wait([last, *waiting], timeout=HANGS_S)
        assert len(done) == 10
        assert [future.result() for future in waiting] == [3] * 9


def test_shutdown_can_cancel_what_waits(tmp_path):
    """The calls that have been handed out end when the last one is cancelled."""
    pool, gate = culmen.Executor(1), tmp_path / "gate"
    sent = [pool.submit(lambda: wait_for(gate.exists, "the gate")) for _ in range(50)]
    sent[-1].add_done_callback(lambda _: gate.touch())
    pool.shutdown(cancel_futures=True)
    assert all(future.done() for future in sent)
    assert sum(future.cancelled() for future in sent) > 40


def test_shutdown_without_waiting_still_finishes_what_was_sent():
    pool = culmen.Executor(1)
    sent = pool.map(len, ["a"] * 20)
    pool.shutdown(wait=False)
    assert sum(sent) == 20


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


def test_a_map_cancels_the_item_that_it_timed_out_on(tmp_path):
    with culmen.Executor(1, prefetch=False) as pool:
        busy = pool.submit(lambda: wait_for((tmp_path / "gate").exists, "the gate"))
        with pytest.raises(concurrent.futures.TimeoutError):
            next(pool.map(lambda _: (tmp_path / "called").touch(), [0], timeout=0))
        (tmp_path / "gate").touch()
        assert busy.result()
        assert pool.submit(len, "next").result() == 4
        assert not (tmp_path / "called").exists()


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
        monkeypatch.setattr(pool._pool, "_run", Slowly(pool._pool._run, lambda: inside.set() or on.wait(HANGS_S)))
        threads = [threading.Thread(target=lambda: seen.append(future.cancel())) for _ in range(2)]
        threads[0].start()
        assert inside.wait(HANGS_S)
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
