"""The master's main thread: starts the engine, waits in slices, draws, and handles signals."""

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from .. import _core
from ..base.signals import interrupt, raise_again, signals_of_program, stopping_on
from ..base.text import shown
from ..launch.ranks import is_master
from ..store.opening import how_to_resume
from .callback import Callback
from .progress.monitor import Monitor, Silent

NO_SPACE = "no space left"  # in messages of stores and of the system
RESUME = "resume the study"  # after a store error
FOR_EVER_S = 1e6  # the longest wait that is possible
_CALLBACK_S = 0.01  # between two looks for a callback


def execute(
    config: _core.StudyConfig,
    options: _core.RunOptions,
    begin: Callable[[_core.Run], Monitor],
    callback: Callback | None = None,
) -> _core.Result:
    """Runs a study to its end, for programs. ``begin`` is called when the run has started.

    Ctrl-C stops it cleanly and prints the best so far on standard error. A second Ctrl-C, or one before any success,
    raises KeyboardInterrupt. SIGTERM, SIGHUP and SIGUSR1 stop it as cleanly, and then the program, unless the program
    has its own handlers for them. Without a store, the evaluations' folders are in a temporary one. Raises CulmenError
    if the evaluator cannot be set up, no worker is left, or the store cannot be written.
    """
    refuse_while_imported()
    if not is_master() and _core.uses_ranks(options):
        return _core.serve_rank()

    with _working_folder(config, options):
        ended = conduct(config, options, begin, signals_of_program(), interrupt, callback)
    result, seen = ended.result, ended.signals
    if seen and result.reason == "interrupted":
        _say_interrupted(result, config)
    raise_again(seen)
    if seen and result.reason == "interrupted" and result.best is None:
        raise KeyboardInterrupt
    raise_error(result)
    return result


@dataclass(frozen=True)
class Conducted:
    result: _core.Result
    here: int  # evaluations since this start of the master
    signals: list[int]  # signals during the run


def conduct(
    config: _core.StudyConfig,
    options: _core.RunOptions,
    begin: Callable[[_core.Run], Monitor],
    signals: tuple[int, ...],
    second: Callable[[int], None],
    callback: Callback | None = None,
) -> Conducted:
    """One run, from its start to its end. ``begin`` is called when it has started. The first of the signals stops it;
    a later SIGINT calls ``second``."""
    run = _core.Run(config, options)
    with stopping_on(signals, run.stop, second) as seen:
        run.start()
        result = wait(run, begin(run), callback)
        return Conducted(result, run.progress().evaluations_here, seen)


@contextmanager
def _working_folder(config: _core.StudyConfig, options: _core.RunOptions) -> Iterator[None]:
    if options.store:  # its folders are beside it
        yield
        return
    with tempfile.TemporaryDirectory(prefix="culmen-", ignore_cleanup_errors=True) as folder:
        config.evaluator.working_folder = folder
        yield


def _say_interrupted(result: _core.Result, config: _core.StudyConfig) -> None:
    best = "no evaluation has succeeded yet"
    if result.best is not None:
        named = ", ".join(f"{name}={shown(value)}" for name, value in config.space.named(result.best).items())
        best = f"the best so far is {result.best_value:.6g} at {named}"
    if result.store:
        how = f"to resume: {how_to_resume(result.store, json.loads(config.configuration))}"
    else:
        how = 'with store="fit.db" the same call could resume'
    with suppress(OSError):  # the terminal may have closed
        print(f"culmen: {result.message}; {best}; {how}", file=sys.stderr, flush=True)


def refuse_while_imported() -> None:
    """Raises InputError in a slot that imports the user's module to evaluate a function in it.

    If the module started evaluations itself, they would start a slot that imports it, and so on without end.
    """
    target = sys.modules.get("culmen.slot.target")
    if target is not None and target.imported:
        raise _core.InputError(
            f"{target.imported[-1]} starts evaluations while a worker imports it; put that part of the script below "
            '`if __name__ == "__main__":`'
        )


def raise_error(result: _core.Result) -> None:
    """Raises InputError if no worker could set up the evaluator, StoreError if the store failed, and CulmenError for
    other errors of the run."""
    if result.reason == "set_up":
        raise _core.InputError(result.message)
    if result.store_failed:
        then = f"; free space, then {RESUME}" if NO_SPACE in result.message else ""
        raise _core.StoreError(result.message + then)
    if result.reason == "error":
        raise _core.CulmenError(result.message)


def wait(run: _core.Run, monitor: Monitor, callback: Callback | None = None) -> _core.Result:
    """Waits for the end of the run. If the output is closed, the study continues without progress."""
    done = False
    while not done:
        done = run.wait(min(monitor.slice_s, _CALLBACK_S) if callback else monitor.slice_s)
        if callback is not None:
            _look(run, callback, done)
        try:
            monitor.update(run.progress())
            if done:
                monitor.close()
        except (OSError, SystemExit):  # rich exits when a pipe is broken
            monitor = Silent()
    return run.result()


def _look(run: _core.Run, callback: Callback, done: bool) -> None:
    """If the callback raises an exception, the run ends before the exception is raised further."""
    try:
        if callback.see(run, done):
            run.stop("callback")
    except BaseException:
        run.stop()
        while not run.wait(_CALLBACK_S):
            pass
        run.result()
        raise
