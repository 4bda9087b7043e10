"""The inside of an Executor: the engine's run, the futures that wait for it, and the thread that sets them."""

import atexit
import itertools
import logging
import os
import sys
import threading
from concurrent import futures
from contextlib import suppress
from typing import Any

from .. import _core
from .._core import CulmenError, InputError
from ..run.master import FOR_EVER_S
from ..slot import items
from ..slot.failure import sentence

_LIVING: set["ItemPool"] = set()


class EvaluationError(CulmenError):
    """A call has no result, because its process died or exceeded the time limit.

    ``status`` is "crashed", "timed out", or "failed" if the process could not be started.
    """

    __module__ = "culmen"  # where users import it: the traceback shows this name

    def __init__(self, message: str, status: str = "crashed") -> None:
        super().__init__(message, status)
        self.status = status

    def __str__(self) -> str:
        return str(self.args[0])


class BrokenPoolError(CulmenError, futures.BrokenExecutor):
    """No worker is left, or none could be set up: no more calls will be evaluated."""


class _Future(futures.Future):
    """It can be cancelled while its item waits; it is running as soon as the item is sent to a worker."""

    def __init__(self, pool: "ItemPool", number: int) -> None:
        super().__init__()
        self._pool = pool
        self.number = number
        self.withdrawn = False  # no result will come: the thread that has withdrawn it cancels it

    def running(self) -> bool:
        return not (self.done() or self._pool.holds(self.number) or self.withdrawn)

    def cancel(self) -> bool:
        if self._pool.withdraw(self):
            self.cancel_now()
        return super().cancel() if self.withdrawn else False

    def cancel_now(self) -> None:
        try:
            super().cancel()
        finally:  # a callback may raise anything; waiting threads are notified in any case
            self.set_running_or_notify_cancel()


class _Foreign:
    """Replaces the run in a copy of the process: the run belongs to the parent process."""

    def submit(self, *_: object) -> None:
        raise InputError(
            "this executor belongs to the parent of this process, which os.fork() made; make a new executor here"
        )

    def make_function(self, pickled: _core.Pickle) -> Any:
        return None

    def holds(self, _number: int) -> bool:
        return True

    def cancel(self, _number: int) -> bool:
        return False

    def cancel_all(self) -> list[int]:
        return []

    def wait(self, _timeout_s: float) -> bool:
        return True

    def close(self) -> None:
        pass

    stop = result = close


class ItemPool:
    """Any thread may use it. Under MPI, the same thread must make it and shut it down."""

    ranks_serve = False  # ranks of a launch, until this program ends

    def __init__(self, config: _core.StudyConfig, options: _core.RunOptions) -> None:
        self._of_ranks = _core.uses_ranks(options)
        for pool in list(_LIVING):
            pool._make_room(self._of_ranks)
        ItemPool.ranks_serve |= self._of_ranks
        self._run: Any = _core.ExecutorRun(config, options)
        self._numbers = itertools.count()
        self._waiting: dict[int, _Future] = {}
        self._stopped = False  # by force
        self._left = False  # no more calls will be submitted
        self._broken: BrokenPoolError | None = None
        self._concluded = False
        self._ending = threading.Lock()
        self._withdrawing = threading.RLock()  # a generator that is collected now may cancel its futures
        self._run.start()
        self._collector = threading.Thread(target=self._collect, name="culmen.Executor", daemon=True)
        self._collector.start()
        _LIVING.add(self)

    def make_function(self, pickled: _core.Pickle) -> _core.ItemFunction:
        return self._run.make_function(pickled)

    def disown(self) -> None:
        """Called in a copy of this process, which has neither its threads nor its children."""
        import ctypes

        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._run))  # its destructor would wait for those
        self._run = _Foreign()

    def submit(self, function: _core.ItemFunction, arguments: list[bytes]) -> list[futures.Future]:
        sent = [_Future(self, next(self._numbers)) for _ in arguments]
        numbers = [future.number for future in sent]
        self._waiting.update(zip(numbers, sent, strict=True))
        self._send(numbers, function, arguments)
        return sent  # type: ignore[return-value]

    def submit_one(self, function: _core.ItemFunction, argument: bytes) -> futures.Future:
        """As ``submit``, in fewer steps of Python: they limit the rate of short calls."""
        number = next(self._numbers)
        future = self._waiting[number] = _Future(self, number)
        self._send([number], function, [argument])
        return future

    def _send(self, numbers: list[int], function: _core.ItemFunction, arguments: list[bytes]) -> None:
        try:
            self._run.submit(numbers, function, arguments)
        except InputError:
            for number in numbers:
                self._waiting.pop(number, None)
            if self._broken is not None and not self._left:
                raise self._broken from None
            raise

    def holds(self, number: int) -> bool:
        """Whether the item was not yet sent."""
        return self._run.holds(number)

    def withdraw(self, future: _Future) -> bool:
        """True for the first caller, if the item was not sent and will not be sent. Other callers see ``withdrawn``."""
        with self._withdrawing:
            first = self._run.cancel(future.number) and self._waiting.pop(future.number, None) is not None
            future.withdrawn |= first
        return first

    def _withdraw_all(self) -> list[_Future]:
        with self._withdrawing:
            found = [self._waiting.pop(number, None) for number in self._run.cancel_all()]
            withdrawn = [future for future in found if future is not None]
            for future in withdrawn:
                future.withdrawn = True
        return withdrawn

    def leave(self) -> None:
        """No more calls will be submitted: the pool ends when all calls are done."""
        self._left = True
        self._run.close()

    def _make_room(self, needs_ranks: bool) -> None:
        """Ranks serve one executor at a time. If they are needed and this executor gets no more calls, waits until it
        has ended."""
        if self._of_ranks and self._left and needs_ranks:
            self._wait()

    def stop(self) -> None:
        """Ends the children at once and cancels all unfinished calls."""
        self._stopped = self._left = True
        self._run.stop()

    def shutdown(self, wait: bool, cancel_futures: bool) -> None:
        if cancel_futures:
            for future in self._withdraw_all():
                future.cancel_now()
        self.leave()
        if wait:
            self._wait()

    def _wait(self) -> None:
        try:
            while not self._run.wait(FOR_EVER_S):  # a signal came; its handler has run by now
                pass
        except BaseException:
            self.stop()
            raise
        finally:
            if self._collector is not threading.current_thread():
                self._collector.join()
            self._conclude()

    def _conclude(self) -> None:
        with self._ending:
            if not self._concluded:
                self._concluded = True
                self._run.result()
                _LIVING.discard(self)

    def _collect(self) -> None:
        """The thread that sets futures."""
        while self._settle_some():
            pass
        self._broken = BrokenPoolError(f"the executor has ended: {self._run.message}")
        while self._waiting:
            with suppress(KeyError):  # the last one was withdrawn just now
                future = self._waiting.popitem()[1]
                try:
                    self._give_up(future)
                except BaseException:
                    _log_callback_of(future)
        if not self._of_ranks:
            self._run.wait(FOR_EVER_S)
            self._conclude()

    def _give_up(self, future: _Future) -> None:
        if self._stopped:
            future.withdrawn = True
            future.cancel_now()
        else:
            future.set_exception(self._broken)

    def _settle_some(self) -> bool:
        """False if no more results will come. Results may be large, so they are released at the end of this
        function."""
        ended = self._run.ended
        finished = self._run.take(FOR_EVER_S)
        for number, status, message, payload in finished:
            _settle(self._waiting.pop(number), status, message, payload)
        return bool(finished) or not ended


def _settle(future: futures.Future, status: str, message: str, payload: Any) -> None:
    result, error = None, None
    try:
        if status != "ok":
            error = EvaluationError(message, status)
        elif (content := memoryview(payload))[0] == items.RAISED:
            error = items.load_error(content[1:])
        else:
            result = items.load_result(content)
    except BaseException as e:  # those that would end the program too: this thread serves all futures
        error = EvaluationError(f"the result cannot be unpickled in this process: {sentence(e)}", "failed")
    try:
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
    except BaseException:
        _log_callback_of(future)


def _log_callback_of(future: futures.Future) -> None:
    """Logs an exception of a callback, as the standard library does. Also logs exceptions that would end the
    program."""
    logging.getLogger("concurrent.futures").exception("exception calling callback for %r", future)


def _forget() -> None:
    for pool in list(_LIVING):
        pool.disown()
    _LIVING.clear()
    ItemPool.ranks_serve = False


os.register_at_fork(after_in_child=_forget)


@atexit.register
def _leave_program() -> None:
    """Executors without a shutdown finish their calls, unless the program was interrupted."""
    for pool in list(_LIVING):
        if getattr(sys, "last_type", None) is KeyboardInterrupt:
            pool.stop()
        pool.shutdown(True, False)
    if ItemPool.ranks_serve:
        _core.dismiss_ranks()
