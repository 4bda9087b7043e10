"""Whether a tuned program is faster: runs without and with the tuner, in turns."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ..._core import InputError
from ...bench.verdict import in_turns, verdict_of
from ...launch.watched import RunLateError, limit_for
from .running import Command
from .tuned import Tuning, read_tuning

Kind = tuple[str, list[float], Callable[[float | None], int]]
"""Runs that are compared: what they are, for messages; their times in seconds; a run with a limit in seconds, which
returns its exit code."""
LEAST_RUNS = 3
_SEED = 1


@dataclass
class Compared:
    """Wall times in seconds, one of each kind in each round."""

    default_s: list[float] = field(default_factory=list)
    tuned_s: list[float] = field(default_factory=list)
    loaded_s: list[float] = field(default_factory=list)

    def gain(self, times: list[float]) -> tuple[float, float, bool]:
        """Returns the share of the time that is saved, half the width of its 95 % interval, and whether this interval
        excludes 0."""
        verdict = verdict_of(list(zip(self.default_s, times, strict=True)), maximize=False)
        return verdict.gain, (verdict.high - verdict.low) / 2, verdict.is_better or verdict.is_worse


def validate(
    command: Command,
    file: Path,
    rounds: int,
    say: Callable[[str], None],
    time_limit_s: float | None = None,
    read: Callable[[Path], Tuning] = read_tuning,
) -> Compared:
    """Each round runs the program as it is, with the tuner, and with the choices of a file. A first run with the tuner
    makes this file, and does not count: it may find cold caches. ``time_limit_s``: of each run, in seconds; None: from
    the duration of the first run, which then has none. ``read``: reads the tuning file.

    Raises InputError if the program fails or takes too long, or if there is nothing to compare, and RunStoppedError.
    """
    what = "a first run, which makes the tuning file"
    say(what)
    begun = time.monotonic()
    _check_code(_in_time(partial(command.tune_watched, file, None), time_limit_s, what), "in the first run")
    limit_s = time_limit_s or limit_for(time.monotonic() - begun)
    if not file.exists():
        return Compared()
    tuning = read(file)
    if tuning.off:
        raise InputError(f"nothing was tuned, so there is nothing to compare: {tuning.off}")
    found = Compared()
    kinds: list[Kind] = [
        ("without the tuner", found.default_s, command.run),
        ("tuned while it runs", found.tuned_s, partial(command.tune_watched, None, None)),
    ]
    if tuning.changed:
        kinds.append(("tuned from the file", found.loaded_s, partial(command.tune_watched, None, file)))
    else:
        say("the first run chose no other algorithm, so there are no runs with its tuning file")
    take_turns(kinds, rounds, say, limit_s)
    return found


def take_turns(
    kinds: Sequence[Kind],
    rounds: int,
    say: Callable[[str], None],
    limit_s: float,
    keep: Callable[[], None] = lambda: None,
) -> None:
    """Runs each kind once in each round, in random order, and appends its wall time. Rounds of which the kinds have the
    times already are not repeated. ``keep`` is called after each run. Raises InputError if a run fails or takes longer
    than ``limit_s``, and RunStoppedError."""
    say(f"a run that takes longer than {limit_s:g} s is ended; --time-limit changes this")
    before = sum(len(times) for _, times, _ in kinds)
    for step, (what, times, run) in [*enumerate(in_turns(kinds, rounds, _SEED))][before:]:
        say(f"round {step // len(kinds) + 1} of {rounds}: {what}")
        begun = time.monotonic()
        code = _in_time(run, limit_s, what)
        took_s = time.monotonic() - begun
        _check_code(code, what)
        times.append(took_s)
        keep()


def _in_time(run: Callable[[float | None], int], limit_s: float | None, what: str) -> int:
    """Raises InputError if the run takes too long."""
    try:
        return run(limit_s)
    except RunLateError as late:
        raise InputError(f"{late} ({what}); nothing is said about its speed; --time-limit allows longer runs") from None


def _check_code(code: int, what: str) -> None:
    if code != 0:
        raise InputError(f"the program ended with exit code {code} ({what}); nothing is said about its speed")
