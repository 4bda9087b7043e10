"""``culmen.Executor``: calls of a program's functions, evaluated by culmen's workers."""

import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from itertools import chain, islice
from numbers import Real
from pathlib import Path
from time import monotonic
from typing import Any

from .. import _core
from .._core import InputError
from ..launch.ranks import is_master, serve_until_dismissed
from ..problem.given import as_argument
from ..run.master import refuse_while_imported
from ..slot.callables import Chunk, Column, Initializer
from .functions import FunctionCache, dumps, to_slot
from .item_pool import ItemPool

_AT_ONCE = 64
_MOST_WORKERS = 65_536


class Executor(futures.Executor):
    """A ``concurrent.futures.Executor`` that runs Python calls on culmen's workers. Each call runs in a child process.

    - ``workers`` or ``max_workers``: number of calls in parallel. Default: one per CPU. No effect with
      ``transport="mpi"``.
    - ``transport``: where calls run. "threads": each worker is a thread of this process. "processes": each worker is a
      process. "mpi": each other rank is a worker. "auto" (default): "mpi" in an MPI launch, otherwise "threads".
    - ``initializer``, ``initargs``: ``initializer(*initargs)`` is called in each child process when it starts.
    - ``time_limit_s``: time limit of a call in seconds. With the argument ``chunksize`` of ``map``, it is the time
      limit of a whole chunk of calls.
    - ``prefetch``: if true, and if calls take less than 50 ms, a worker receives its next call in advance.

    culmen pickles functions, arguments and results. Functions may also be lambdas or functions of a notebook. culmen
    does not show the output that the functions print.

    If a call raises an exception, its future raises the same exception. If a child process dies, or if a call exceeds
    the time limit, the future raises EvaluationError, and a new child process starts. You can cancel a future until a
    worker receives its call.

    In a ``with`` block, Ctrl-C ends the child processes at once and cancels all unfinished calls.

    Under MPI, only rank 0 continues after ``culmen.Executor()``. The other ranks run calls for rank 0, and exit when
    rank 0 ends.

    Raises InputError for wrong arguments, and TransportError if workers cannot be started.
    """

    def __init__(
        self,
        workers: int | None = None,
        transport: str = "auto",
        *,
        max_workers: int | None = None,
        initializer: Callable[..., object] | None = None,
        initargs: Iterable[Any] = (),
        time_limit_s: float | None = None,
        prefetch: bool = True,
    ) -> None:
        refuse_while_imported()
        if workers is not None and max_workers is not None:
            raise InputError("culmen.Executor: workers and max_workers mean the same; give only one of them")
        options = options_of(max_workers if workers is None else workers, transport, prefetch)
        if not is_master() and _core.uses_ranks(options):
            serve_until_dismissed()
        shares = not _core.uses_ranks(options)
        self._pool = ItemPool(_config(initializer, initargs, time_limit_s, shares), options)
        self._functions = FunctionCache(self._pool.make_function, shares)
        self._max_workers = _core.workers_of(options)  # other libraries read it under this name
        self._finalizer = weakref.finalize(self, self._pool.leave)

    @property
    def workers(self) -> int:
        """Number of calls in parallel."""
        return self._max_workers

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> futures.Future:
        """Returns a future of ``fn(*args, **kwargs)``. Raises InputError if the call cannot be pickled."""
        return self._pool.submit_one(self._functions.get(fn), dumps((args, kwargs)))

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
        buffersize: int | None = None,
    ) -> Iterator[Any]:
        """Returns an iterator of results, as ``concurrent.futures.Executor.map`` does.

        - ``timeout``: time limit in seconds until the last result.
        - ``chunksize``: number of calls that a worker receives at once.
        - ``buffersize``: largest number of unfinished chunks. With ``buffersize``, the iterables may be endless.
        """
        chunksize = _check_count("chunksize", chunksize)
        if chunksize > 1 and len(iterables) == 1:
            return self._results(Column(fn), iter(*iterables), chunksize, timeout, buffersize)
        return self._results(
            Chunk(fn) if chunksize > 1 else fn, zip(*iterables, strict=False), chunksize, timeout, buffersize
        )

    def starmap(self, fn: Callable[..., Any], iterable: Iterable[Iterable[Any]], chunksize: int = 1) -> list[Any]:
        """Returns the list ``[fn(*arguments) for arguments in iterable]``, as ``multiprocessing.Pool.starmap`` does."""
        chunksize = _check_count("chunksize", chunksize)
        return list(self._results(Chunk(fn) if chunksize > 1 else fn, map(tuple, iterable), chunksize))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accepts no more calls. ``wait``: until all submitted calls are done and the workers have ended.
        ``cancel_futures``: calls that were not sent yet are cancelled."""
        self._finalizer.detach()
        self._pool.shutdown(wait, cancel_futures)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self.stop()
        self.shutdown()

    def stop(self) -> None:
        """Ends the children at once and cancels all unfinished calls; no more calls are accepted."""
        self._pool.stop()

    def _results(
        self,
        fn: Callable[..., Any],
        calls: Iterator[Any],
        chunksize: int,
        timeout: float | None = None,
        buffersize: int | None = None,
    ) -> Iterator[Any]:
        """``calls``: tuples of arguments; for chunks, the elements of the list that ``fn`` takes."""
        if buffersize is not None:
            buffersize = _check_count("buffersize", buffersize, ", or None")
        end = None if timeout is None else monotonic() + timeout
        function = self._functions.get(fn)
        if chunksize > 1:
            items = iter(lambda: list(islice(calls, chunksize)), [])
            arguments = (dumps(((chunk,), {})) for chunk in items)
        else:
            arguments = (dumps((call, {})) for call in calls)
        sent = deque(self._send(function, islice(arguments, buffersize)))
        more = None if buffersize is None else lambda: self._send(function, islice(arguments, 1))
        results = _one_by_one(sent, end, more)
        return chain.from_iterable(results) if chunksize > 1 else results

    def _send(self, function: _core.ItemFunction, arguments: Iterator[bytes]) -> list[futures.Future]:
        """Step by step, so that the first calls are evaluated while others are pickled."""
        sent: list[futures.Future] = []
        try:
            for some in iter(lambda: list(islice(arguments, _AT_ONCE)), []):
                sent += self._pool.submit(function, some)
        except BaseException:
            for future in sent:
                future.cancel()
            raise
        return sent


def _one_by_one(
    sent: deque[futures.Future], end: float | None, more: Callable[[], list[futures.Future]] | None
) -> Iterator[Any]:
    try:
        while sent:
            if more is not None:
                sent.extend(more())
            yield _result_of(sent.popleft(), None if end is None else end - monotonic())
    finally:
        for future in sent:
            future.cancel()


def _result_of(future: futures.Future, timeout: float | None) -> Any:
    try:
        return future.result(timeout)
    except BaseException:
        future.cancel()
        raise


def _check_count(name: str, given: Any, otherwise: str = "", most: int = sys.maxsize) -> int:
    value = as_argument(given)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"culmen.Executor: {name} must be a whole number, at least 1{otherwise}, got {given!r:.80}")
    if value > most:
        raise InputError(f"culmen.Executor: {name} must be at most {most}{otherwise}, got {value}")
    return value


def options_of(workers: int | None, transport: str, prefetch: bool = True) -> _core.RunOptions:
    if workers is not None:
        workers = _check_count("workers", workers, ", or None", _MOST_WORKERS)
    if not isinstance(prefetch, bool):
        raise InputError(f"culmen.Executor: prefetch must be True or False, got {prefetch!r}")
    if isinstance(transport, str) and "://" in transport:
        raise InputError(
            f"culmen.Executor: transport={transport!r}: workers of other machines evaluate only the function with "
            "which they were started; use culmen.minimize(…, listen=…), or MPI (transport='mpi')"
        )
    if transport not in _core.PLACES:
        raise InputError(f"culmen.Executor: transport must be one of {', '.join(_core.PLACES)}, got {transport!r}")
    options = _core.RunOptions()
    options.workers, options.place, options.prefetch = workers or 0, transport, prefetch
    return options


def _config(
    initializer: Callable[..., object] | None, initargs: Iterable[Any], time_limit_s: float | None, shares: bool
) -> _core.StudyConfig:
    if initializer is not None and not callable(initializer):
        raise InputError(f"culmen.Executor: initializer must be a function or None, got {initializer!r}")
    if not isinstance(initargs, Iterable):
        raise InputError(f"culmen.Executor: initargs must be a tuple of the initializer's arguments, got {initargs!r}")
    if time_limit_s is not None and not (isinstance(time_limit_s, Real) and time_limit_s > 0):
        raise InputError(
            f"culmen.Executor: time_limit_s must be a number of seconds above 0, or None, got {time_limit_s!r}"
        )
    config = _core.StudyConfig()
    config.name, config.give_up_after = "executor", 0
    config.evaluator.kind, config.evaluator.interpreter = "items", sys.executable
    config.evaluator.base_folder = str(Path.cwd())
    config.evaluator.time_limit_s = time_limit_s or 0
    config.evaluator.pickle = to_slot(Initializer(initializer, tuple(initargs)), "the initializer", shares)
    return config
