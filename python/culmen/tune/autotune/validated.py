"""Whether a tuned program is faster: runs without and with the tuner, in turns."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy import stats

from ..._core import InputError
from .running import Command

_CONFIDENCE = 0.95
LEAST_RUNS = 3


@dataclass
class Compared:
    """Wall times in seconds, one of each kind in each round."""

    default_s: list[float] = field(default_factory=list)
    tuned_s: list[float] = field(default_factory=list)
    loaded_s: list[float] = field(default_factory=list)

    def gain(self, times: list[float]) -> tuple[float, float]:
        """The share of the time that is saved, and half the length of its interval of 95 %: from the logarithms of the
        ratios of each round, by Student's distribution."""
        logs = np.log(np.asarray(times) / np.asarray(self.default_s))
        half = stats.t.ppf((1 + _CONFIDENCE) / 2, len(logs) - 1) * stats.sem(logs)
        low, middle, high = (1 - np.exp(logs.mean() + sign * half) for sign in (1, 0, -1))
        return float(middle), float(high - low) / 2


def validate(command: Command, file: Path, rounds: int, say: Callable[[str], None]) -> Compared:
    """Each round runs the program as it is, then with the tuner, then with the choices of a file. file: for the choices
    of the first round.

    Raises InputError if the program fails.
    """
    found = Compared()
    kinds: tuple[tuple[str, list[float], Callable[[], int]], ...] = (
        ("without the tuner", found.default_s, command.run),
        ("tuned while it runs", found.tuned_s, lambda: command.tune(_first(found, file), None)),
        ("tuned from the file", found.loaded_s, lambda: command.tune(None, file)),
    )
    for number in range(1, rounds + 1):
        for step in range(len(kinds)):
            # The order changes, so that no kind always follows the same one. The file is made in the first round.
            what, times, run = kinds[(step + number - 1) % len(kinds)]
            say(f"round {number} of {rounds}: {what}")
            begun = time.monotonic()
            code = run()
            times.append(time.monotonic() - begun)
            if code != 0:
                raise InputError(f"the program ended with exit code {code} ({what}); nothing is said about its speed")
    return found


def _first(found: Compared, file: Path) -> Path | None:
    return None if found.tuned_s else file
