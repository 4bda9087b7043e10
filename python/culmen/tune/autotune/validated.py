"""Whether a tuned program is faster: runs without and with the tuner, in turns."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..._core import InputError
from ...bench.verdict import in_turns, verdict_of
from .running import Command
from .tuned import read_tuning

Kind = tuple[str, list[float], Callable[[], int]]
"""Runs of one kind: their name for messages, their times in seconds, and a function that runs one and returns its exit
code."""
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


def validate(command: Command, file: Path, rounds: int, say: Callable[[str], None]) -> Compared:
    """Each round runs the program three times: without the tuner, with the tuner, and with the choices of a file. An
    earlier run with the tuner writes this file. That run does not count, because caches may be cold.

    Raises InputError if the program fails, or if there is nothing to compare.
    """
    say("a first run, which makes the tuning file")
    _check_code(command.tune(file, None), "in the first run")
    if not file.exists():
        return Compared()
    if (off := read_tuning(file).off) != "":
        raise InputError(f"nothing was tuned, so there is nothing to compare: {off}")
    found = Compared()
    kinds: list[Kind] = [
        ("without the tuner", found.default_s, command.run),
        ("tuned while it runs", found.tuned_s, lambda: command.tune(None, None)),
        ("tuned from the file", found.loaded_s, lambda: command.tune(None, file)),
    ]
    take_turns(kinds, rounds, say)
    return found


def take_turns(kinds: Sequence[Kind], rounds: int, say: Callable[[str], None]) -> None:
    """Runs each kind once in each round, in random order, and appends its wall time. Raises InputError if a run
    fails."""
    for step, (what, times, run) in enumerate(in_turns(kinds, rounds, _SEED)):
        say(f"round {step // len(kinds) + 1} of {rounds}: {what}")
        begun = time.monotonic()
        code = run()
        times.append(time.monotonic() - begun)
        _check_code(code, what)


def _check_code(code: int, what: str) -> None:
    if code != 0:
        raise InputError(f"the program ended with exit code {code} ({what}); nothing is said about its speed")
