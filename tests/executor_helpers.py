"""Common helpers for the checks of an executor."""

import concurrent.futures as cf
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import harness

PATIENCE_S = harness.HANGS_S
Make = Callable[..., cf.Executor]
PROMISES: dict[str, Callable[[Make], None]] = {}
OWN: dict[str, Callable[[Make], None]] = {}


def wait_for(condition, what):
    return harness.wait_for(condition, what, PATIENCE_S)


def promise(check):
    PROMISES[check.__name__] = check
    return check


def own(check):
    OWN[check.__name__] = check
    return check


def raised(kind, call, *arguments, **keywords):
    """The exception that it must raise."""
    try:
        call(*arguments, **keywords)
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def hold(path):
    return wait_for(Path(path).exists, "the gate")


def announce_and_hold(folder):
    (Path(folder) / "running").touch()
    return hold(Path(folder) / "gate")


def capture(*arguments, **keywords):
    return arguments, keywords


def fail(kind, *arguments):
    raise kind(*arguments)


def nap(i):
    time.sleep(0.002 * (i % 3))
    return i


class Blocked:
    """Inside ``with`` every worker is busy and has as many calls as are sent ahead; later calls wait."""

    def __init__(self, pool):
        self._folder = tempfile.TemporaryDirectory()
        gate = Path(self._folder.name) / "gate"
        self.running = pool.submit(announce_and_hold, self._folder.name)
        self.behind = [pool.submit(hold, gate) for _ in range(3 * pool._max_workers)]
        wait_for((Path(self._folder.name) / "running").exists, "a call that runs")
        self.open = gate.touch

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.open()
        wait_for(lambda: all(future.done() for future in [self.running, *self.behind]), "the end of what was held")
        self._folder.cleanup()
