"""culmen.minimize on an executor that the program already has."""

import asyncio
import concurrent.futures
import os
import threading
import time

import pytest
from harness import outcomes, sequence

import culmen

SPACE = {"x": (-5, 5), "y": (-5, 5)}
SAME = {"generational": True}  # whatever evaluates


def valley(p):
    return (p["x"] - 0.3) ** 2 + (p["y"] + 1) ** 2


@pytest.fixture(scope="module")
def alone():
    """The result of culmen's own processes."""
    return culmen.minimize(valley, SPACE, budget=200, options=SAME)


EXECUTORS = {
    "threads": lambda: concurrent.futures.ThreadPoolExecutor(3),
    "processes": lambda: concurrent.futures.ProcessPoolExecutor(3),
    "culmen": lambda: culmen.Executor(3),
}


@pytest.mark.parametrize("kind", EXECUTORS)
def test_every_executor_finds_the_same(alone, kind):
    with EXECUTORS[kind]() as executor:
        found = culmen.minimize(lambda p: valley(p), SPACE, budget=200, options=SAME, executor=executor)
    assert (found.x, found.value, found.evaluations) == (alone.x, alone.value, alone.evaluations)
    assert found.workers == 3


@pytest.mark.filterwarnings("ignore")  # Dask's own
@pytest.mark.slow
def test_dasks_executor_finds_the_same(alone):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        executor = client.get_executor()
        found = culmen.minimize(lambda p: valley(p), SPACE, budget=200, options=SAME, executor=executor)
    assert (found.x, found.evaluations, found.workers) == (alone.x, 200, 2)


def test_a_function_that_cannot_be_pickled_runs_on_threads(alone):
    lock, calls = threading.Lock(), []

    def counted(p):
        with lock:
            calls.append(p)
        return valley(p)

    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        assert culmen.minimize(counted, SPACE, budget=200, options=SAME, executor=executor).x == alone.x
    assert len(calls) >= 200


def test_no_more_is_under_way_than_twice_the_workers():
    now, most, lock = [0], [0], threading.Lock()

    def f(p):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.05)  # long against a round trip, also on a busy machine
        with lock:
            now[0] -= 1
        return p["x"]

    with concurrent.futures.ThreadPoolExecutor(16) as executor:
        found = culmen.minimize(f, SPACE, budget=30, workers=2, executor=executor)
    assert found.workers == 2
    assert most[0] <= 4  # one waits at each worker while another runs


def test_a_store_begun_on_processes_goes_on_on_an_executor(tmp_path, alone):
    store, whole = tmp_path / "study.db", tmp_path / "whole.db"
    culmen.minimize(valley, SPACE, budget=200, options=SAME, store=whole)
    culmen.minimize(valley, SPACE, budget=80, options=SAME, store=store)
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        found = culmen.minimize(valley, SPACE, budget=200, options=SAME, store=store, executor=executor)
    assert found.x == alone.x
    told = [entry for entry in sequence(store) if entry[0] == "tell"]
    assert told == [entry for entry in sequence(whole) if entry[0] == "tell"]
    assert outcomes(store) == outcomes(whole)


def test_failures_are_values_and_residuals_and_extras_come_back():
    def f(x):
        if x[0] < 0:
            raise ValueError("negative mass")
        return [x[0] - 1, 2.0], {"mass": x[0]}

    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        found = culmen.minimize(f, [(-1, 3)], budget=100, result="residuals", executor=executor)
    assert found.value == pytest.approx(4, abs=1e-3)
    assert found.residuals[1] == 2.0
    assert found.extras["mass"] == pytest.approx(1, abs=0.1)
    assert "ValueError: negative mass" in found.first_failure
    assert 0 < found.failed < 100


def test_objectives_and_kinds_of_parameters_are_as_anywhere():
    def f(p):
        return {"speed": p["n"] * (2 if p["fast"] else 1)}

    space = culmen.Space({"n": culmen.integer(1, 9), "fast": culmen.boolean()})
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        found = culmen.minimize(f, space, budget=60, objectives={"speed": "maximize"}, executor=executor)
    assert found.best == {"n": 9, "fast": True}
    assert found.value == 18


def test_a_crash_in_an_executor_of_culmens_own_is_one_failed_evaluation():
    def f(p):
        if p["x"] > 4:
            os._exit(7)
        return valley(p)

    with culmen.Executor(2) as executor:
        found = culmen.minimize(f, SPACE, budget=60, executor=executor)
    assert found.evaluations == 60
    assert "ended with exit code 7" in found.first_failure


def test_an_executor_that_breaks_ends_the_study_with_its_sentence():
    with (
        concurrent.futures.ProcessPoolExecutor(2) as executor,
        pytest.raises(culmen.CulmenError, match=r"the executor is broken: .*BrokenProcessPool"),
    ):
        culmen.minimize(lambda p: os._exit(1), SPACE, budget=60, executor=executor)
    with pytest.raises(culmen.CulmenError, match=r"the executor accepts no more calls: .*BrokenProcessPool"):
        culmen.minimize(valley, SPACE, budget=60, executor=executor)


def test_an_executor_of_culmens_own_that_breaks_ends_the_study_too():
    with (
        culmen.Executor(1, initializer=divmod, initargs=(1, 0)) as executor,
        pytest.raises(culmen.CulmenError, match=r"the executor is broken: .*initializer failed: ZeroDivisionError"),
    ):
        culmen.minimize(valley, SPACE, budget=60, executor=executor)


def test_a_time_limit_is_refused_and_what_is_no_executor_too():
    with (
        concurrent.futures.ThreadPoolExecutor(1) as executor,
        pytest.raises(culmen.InputError, match="time_limit_s cannot be combined with executor"),
    ):
        culmen.minimize(valley, SPACE, budget=5, executor=executor, time_limit_s=3)
    with pytest.raises(culmen.InputError, match=r"executor must be a concurrent.futures.Executor, got 3"):
        culmen.minimize(valley, SPACE, budget=5, executor=3)


@pytest.mark.parametrize("kind", EXECUTORS)
@pytest.mark.parametrize("raised", [SystemExit, KeyboardInterrupt])
def test_a_function_that_ends_its_program_fails_as_on_culmens_own_workers(kind, raised):
    def f(p):
        if p["x"] > 4:
            raise raised("no licence")
        return valley(p)

    with EXECUTORS[kind]() as executor:
        found = culmen.minimize(f, SPACE, budget=60, options=SAME, executor=executor)
    alone = culmen.minimize(f, SPACE, budget=60, options=SAME)
    assert (found.x, found.failed, found.evaluations) == (alone.x, alone.failed, 60)
    assert found.failed > 0
    assert f"{raised.__name__}: no licence" in found.first_failure


class Exits(concurrent.futures.Executor):
    """Calls nothing; its futures, or their making, end the program."""

    def __init__(self, at_once):
        self._at_once = at_once

    def submit(self, *_, **__):
        if self._at_once:
            raise SystemExit("no queue")
        future = concurrent.futures.Future()
        future.set_exception(SystemExit("no queue"))
        return future


def test_an_executor_that_ends_the_program_ends_the_study_or_fails_each_evaluation():
    with pytest.raises(culmen.CulmenError, match="the executor accepts no more calls: SystemExit: no queue"):
        culmen.minimize(valley, SPACE, budget=60, executor=Exits(True))
    with pytest.raises(culmen.AllFailedError, match="SystemExit: no queue") as raised:
        culmen.minimize(valley, SPACE, budget=5, executor=Exits(False))
    assert raised.value.result.failed == 5


class Submits(concurrent.futures.Executor):
    """``made(f, arguments)`` makes what it returns."""

    def __init__(self, made):
        self.submit = made


class RaisesAtOnce(concurrent.futures.Future):
    def add_done_callback(self, fn):
        raise RuntimeError("no callbacks today")


class TakesNoCallback(concurrent.futures.Future):
    def add_done_callback(self):
        pass


class CannotBeCancelled:
    def add_done_callback(self, fn):
        fn(self)

    def result(self):
        return b"", 0.0


def of_asyncio(f, arguments):
    loop = asyncio.new_event_loop()
    try:
        return loop.create_future()
    finally:
        loop.close()


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (of_asyncio, r"must return a concurrent\.futures\.Future, got <Future pending>"),
        (lambda *_: CannotBeCancelled(), r"must return a concurrent\.futures\.Future, got <.*CannotBeCancelled"),
        (lambda *_: RaisesAtOnce(), "add_done_callback of .* failed: RuntimeError: no callbacks today"),
        (lambda *_: TakesNoCallback(), "add_done_callback of .* failed: TypeError: .*positional argument"),
    ],
)
def test_what_only_looks_like_a_future_ends_the_study_with_one_sentence(made, words):
    with pytest.raises(culmen.CulmenError, match=words) as raised:
        culmen.minimize(valley, SPACE, budget=60, executor=Submits(made))
    assert "\n" not in str(raised.value)


class CancelRaises(concurrent.futures.Future):
    def cancel(self):
        raise RuntimeError("too late")


def test_a_future_that_refuses_to_be_cancelled_does_not_change_the_error():
    made = [CancelRaises(), None]
    with pytest.raises(culmen.CulmenError, match=r"must return a concurrent\.futures\.Future, got None"):
        culmen.minimize(valley, SPACE, budget=60, workers=2, executor=Submits(lambda *_: made.pop(0)))


@pytest.mark.parametrize("result", [5, (1, 2), (b"", "soon")])
def test_an_executor_that_returns_something_else_fails_each_evaluation(result):
    def made(*_):
        future = concurrent.futures.Future()
        future.set_result(result)
        return future

    with pytest.raises(culmen.AllFailedError, match="must return the result of the function that it was given, got"):
        culmen.minimize(valley, SPACE, budget=5, executor=Submits(made))
