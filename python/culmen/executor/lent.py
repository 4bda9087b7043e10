"""Evaluations on an executor that the program already has: ``culmen.minimize(…, executor=…)``.

``LentFunction`` is the function that such an executor calls; the rest is the master's side.
"""

import pickle
import threading
import time
from asyncio import isfuture
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import blake2b
from typing import Any

from .. import _core
from .._core import InputError
from ..run.master import FOR_EVER_S
from ..run.pickling import pickled_by_value
from ..slot import protocol
from ..slot.callables import Travelling
from ..slot.failure import sentence
from ..slot.outcome import outcome_of

_KEPT = 8
_OF_FUTURES = ("add_done_callback", "result", "cancel")
_RESULTS = {"value": protocol.VALUE, "residuals": protocol.RESIDUALS, "figures": protocol.FIGURES}
_arrived: OrderedDict[bytes, Callable[[Any], Any]] = OrderedDict()


class LentFunction:
    """From a dict of parameters to (encoded outcome, seconds). Pickled once; unpickled once in each process."""

    def __init__(self, f: Callable[[Any], Any], result: str, objectives: Sequence[str]) -> None:
        self._f = f
        self._how = _RESULTS[result], list(objectives)
        self._pickled: tuple[bytes, bytes] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        if self._pickled is None:
            pickled = pickle.dumps(Travelling(pickled_by_value((self._f, *self._how))))
            self._pickled = blake2b(pickled, digest_size=16).digest(), pickled
        return _arrive, self._pickled

    def __call__(self, arguments: dict[str, Any]) -> tuple[bytes, float]:
        begin = time.perf_counter()
        outcome = outcome_of(self._f, arguments, *self._how)
        return outcome, time.perf_counter() - begin


def _arrive(digest: bytes, pickled: bytes) -> "LentFunction":
    if digest not in _arrived:
        f, result, objectives = pickle.loads(pickled)
        _arrived[digest] = LentFunction.__new__(LentFunction)
        _arrived[digest].__dict__.update(_f=f, _how=(result, objectives), _pickled=(digest, pickled))
        if len(_arrived) > _KEPT:
            _arrived.popitem(last=False)
    return _arrived[digest]  # type: ignore[return-value]


def width(executor: Executor, workers: int | None) -> int:
    """Number of evaluations in parallel: the given number, else the number of the executor's workers, else the number
    of CPUs."""
    if not callable(getattr(executor, "submit", None)):
        raise InputError(f"culmen.minimize: executor must be a concurrent.futures.Executor, got {executor!r:.80}")
    if workers is not None:
        return workers
    client = getattr(executor, "_client", None)  # Dask's
    if client is not None and callable(getattr(client, "nthreads", None)):
        return max(1, sum(client.nthreads().values()))
    for name in ("num_workers", "_max_workers"):  # mpi4py's, the standard library's
        if isinstance(number := getattr(executor, name, None), int) and number > 0:
            return number
    return _core.usable_cpus()


@contextmanager
def lending(executor: Executor, f: LentFunction, space: _core.Space, workers: int) -> Iterator[_core.LentWorkers]:
    """Inside the block, the executor evaluates the candidates of a run with these workers. At the end, unfinished
    evaluations are cancelled if possible, and not waited for."""
    lent = _core.LentWorkers(workers)
    under_way: dict[int, Future] = {}
    thread = threading.Thread(
        target=_serve, args=(executor, f, space, lent, under_way), name="culmen.lent", daemon=True
    )
    thread.start()
    try:
        yield lent
    finally:
        lent.end()
        thread.join()
        for future in list(under_way.values()):
            with suppress(Exception):
                future.cancel()


def _serve(
    executor: Executor, f: LentFunction, space: _core.Space, lent: _core.LentWorkers, under_way: dict[int, Future]
) -> None:
    while not lent.ended:
        for ticket, vector in lent.take(FOR_EVER_S):
            if why := _submit(executor, f, space.named(vector), lent, under_way, ticket):
                under_way.pop(ticket, None)
                lent.fail(why)
                return


def _submit(
    executor: Executor,
    f: LentFunction,
    arguments: dict[str, Any],
    lent: _core.LentWorkers,
    under_way: dict[int, Future],
    ticket: int,
) -> str:
    """A sentence if the executor cannot evaluate; else empty. Catches all exceptions, even those that would end the
    program, because its thread serves all evaluations."""
    try:
        future = executor.submit(f, arguments)
    except BaseException as error:
        return f"the executor accepts no more calls: {sentence(error)}"
    if isfuture(future) or not all(callable(getattr(future, name, None)) for name in _OF_FUTURES):
        return (
            f"executor.submit() must return a concurrent.futures.Future, got {future!r:.80}; give an executor with the "
            "interface of concurrent.futures"
        )
    under_way[ticket] = future
    try:
        future.add_done_callback(partial(_done, lent, under_way, ticket))
    except BaseException as error:
        return (
            "executor.submit() must return a concurrent.futures.Future, but add_done_callback of "
            f"{future!r:.80} failed: {sentence(error)}"
        )
    return ""


def _done(lent: _core.LentWorkers, under_way: dict[int, Future], ticket: int, future: Future) -> None:
    """Runs in any thread of the executor."""
    under_way.pop(ticket, None)
    try:
        encoded, duration_s = _result_of(future)
    except BrokenExecutor as error:
        return lent.fail(f"the executor is broken: {sentence(error)}")
    except BaseException as error:  # SystemExit too
        encoded, duration_s = protocol.encode_failure(protocol.CRASHED, sentence(error)), 0.0
    return lent.give(ticket, encoded, duration_s)


def _result_of(future: Future) -> tuple[bytes, float]:
    result = future.result()
    match result:
        case (bytes(), float()):
            return result
    raise TypeError(f"the executor must return the result of the function that it was given, got {result!r:.80}")
