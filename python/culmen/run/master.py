"""The master's main thread: starts the engine, waits in slices, draws, and handles signals."""

import json
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from .. import _core
from ..base.signals import STOP_SIGNALS, stopping_on
from ..base.text import shown
from ..launch.ranks import is_master
from ..store.opening import to_go_on
from .progress.monitor import Monitor, Silent


def execute(config: _core.StudyConfig, options: _core.RunOptions, monitor: Monitor) -> _core.Result:
    """For programs: runs a study to its end.

    Ctrl-C ends it cleanly and says so on standard error, with the best so far; a second one, or one before anything has
    succeeded, raises KeyboardInterrupt. SIGTERM, SIGHUP and SIGUSR1, where the program has no plan of its own for them,
    end it as cleanly, and then the program. Without a store, evaluations have their folders in a temporary one. Raises
    CulmenError where the evaluator cannot be set up, no worker is left, or the store cannot be written.
    """
    refuse_while_imported()
    if not is_master() and options.lent is None:
        return _core.serve_rank()

    def again(_number: int) -> None:
        raise KeyboardInterrupt

    ending = [n for n in STOP_SIGNALS if n != signal.SIGINT and signal.getsignal(n) == signal.SIG_DFL]
    with _working_folder(config, options):
        ended = conduct(config, options, lambda: monitor, (signal.SIGINT, *ending), again)
    result, seen = ended.result, ended.signals
    if seen and result.reason == "interrupted":
        _say_interrupted(result, config)
    for number in filter(ending.__contains__, seen):
        signal.raise_signal(number)
    if seen and result.reason == "interrupted" and result.best is None:
        raise KeyboardInterrupt
    raise_error(result)
    return result


@dataclass(frozen=True)
class Conducted:
    result: _core.Result
    here: int  # evaluations of this start of the master
    signals: list[int]  # that came meanwhile


def conduct(
    config: _core.StudyConfig,
    options: _core.RunOptions,
    begin: Callable[[], Monitor],
    signals: tuple[int, ...],
    second: Callable[[int], None],
) -> Conducted:
    """One run, from its start to its end. ``begin`` is called when it has started. The first of the signals stops it,
    a later SIGINT calls ``second``."""
    run = make_run(config, options)
    with stopping_on(signals, run.stop, second) as seen:
        run.start()
        result = wait(run, begin())
        return Conducted(result, run.progress().evaluations_here, seen)


@contextmanager
def _working_folder(config: _core.StudyConfig, options: _core.RunOptions) -> Iterator[None]:
    if options.store:  # it has one beside it
        yield
        return
    with tempfile.TemporaryDirectory(prefix="culmen-", ignore_cleanup_errors=True) as folder:
        config.evaluator.working_folder = folder
        yield


def _say_interrupted(result: _core.Result, config: _core.StudyConfig) -> None:
    best = "nothing has succeeded yet"
    if result.best is not None:
        named = ", ".join(f"{name}={shown(value)}" for name, value in config.space.named(result.best).items())
        best = f"the best so far is {result.best_value:.6g} at {named}"
    if result.store:
        go_on = f"to go on: {to_go_on(result.store, json.loads(config.configuration))}"
    else:
        go_on = 'store="fit.db" lets the same call go on'
    with suppress(OSError):  # the terminal may have hung up
        print(f"culmen: {result.message}; {best}; {go_on}", file=sys.stderr, flush=True)


def refuse_while_imported() -> None:
    """Raises InputError in a slot that imports the user's module to evaluate a function in it.

    What the module evaluates by itself then would start a slot that imports it, and so on without an end.
    """
    target = sys.modules.get("culmen.slot.target")
    if target is not None and target.imported:
        raise _core.InputError(
            f"{target.imported[-1]} starts evaluations of its own while it is imported for one; "
            '`if __name__ == "__main__":` keeps them to the script'
        )


def raise_error(result: _core.Result) -> None:
    """InputError where no worker could set the evaluator up, CulmenError where the run broke."""
    if result.reason == "set_up":
        raise _core.InputError(result.message)
    if result.reason == "error":
        raise _core.CulmenError(result.message)


def make_run(config: _core.StudyConfig, options: _core.RunOptions) -> _core.Run:
    """Under a launcher, as rank 0, the ranks are the workers; they are let go where ``start`` raises."""
    if _core.detect_launch().is_rank and options.lent is None:
        options.place = "mpi"
    return _core.Run(config, options)


def wait(run: _core.Run, monitor: Monitor) -> _core.Result:
    """Until the run is done. Where nobody reads what is drawn any more, the study goes on unwatched."""
    done = False
    while not done:
        done = run.wait(monitor.slice_s)
        try:
            monitor.update(run.progress())
            if done:
                monitor.close()
        except (OSError, SystemExit):  # rich leaves the program when a pipe is broken
            monitor = Silent()
    return run.result()
