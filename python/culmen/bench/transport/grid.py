"""The points that the figures need, in the order in which they are measured."""

import itertools
import random
import re
import resource
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ... import _core
from ..._core import InputError
from ...base.text import did_you_mean
from ...launch.mpi import LauncherError, find_launcher
from ..words import words_of
from .point import TRANSPORTS, Point

_UNITS_S = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_SHORTEST_S, _LONGEST_S = 1e-6, 3600.0
_MOST_WORKERS, _MOST_IO_THREADS = 65536, 256
_OWN_FILES = 100  # open files of a master, in addition to those for its workers
_SEED = 1


@dataclass(frozen=True)
class Grid:
    workers: tuple[int, ...] = (2, 8, 32)
    evaluations_s: tuple[float, ...] = (0.001, 0.01, 0.1)
    transports: tuple[str, ...] = TRANSPORTS
    repetitions: int = 3
    cost: str = "sleep"
    io_threads: tuple[int, ...] = (1, 2, 4)
    measure_s: float = 0.5  #: shortest time of a point; it also lasts until each worker has made eight evaluations
    mpi: str = "default"  #: as for `culmen launch`
    peers: tuple[str, ...] = ()  #: paths of runners

    def points(self) -> list[Point]:
        """Each repetition has all points, in a random order of its own. The order is the same for the same grid."""
        rng = random.Random(_SEED)  # noqa: S311 - an order, no secret
        out: list[Point] = []
        for repetition in range(1, self.repetitions + 1):
            round_of = [replace(point, repetition=repetition) for point in dict.fromkeys(self._different())]
            rng.shuffle(round_of)
            out += round_of
        return out

    def _different(self) -> Iterator[Point]:
        numbers = sorted({1, *self.workers})
        for name, workers, evaluation_s in itertools.product(
            (*self.transports, *self.peers), numbers, self.evaluations_s
        ):
            yield Point(name, workers, evaluation_s)
        for workers, evaluation_s in itertools.product(numbers, self.evaluations_s):
            yield Point(self.of_prefetch, workers, evaluation_s, prefetch=False)
        if self.of_io_threads:
            for io_threads, evaluation_s in itertools.product(self.io_threads, self.evaluations_s):
                yield Point(self.of_io_threads, max(self.workers), evaluation_s, io_threads=io_threads)

    @property
    def of_prefetch(self) -> str:
        """The transport that is also measured without prefetch."""
        return "mpi" if "mpi" in self.transports else self.transports[0]

    @property
    def of_io_threads(self) -> str:
        """The transport that is also measured with several I/O threads; empty if none has I/O threads."""
        return next((name for name in _core.SCHEMES if name in self.transports), "")

    def check(self) -> None:
        """Raises InputError if this machine cannot measure the grid."""
        if "mpi" in self.transports:
            try:
                find_launcher(None if self.mpi == "default" else self.mpi)
            except LauncherError as e:
                raise InputError(
                    f"--transports: mpi cannot be measured: {e}; leave it out, or name one by --mpi"
                ) from None
        most, files = max(self.workers), resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if files != resource.RLIM_INFINITY and most + _OWN_FILES > files:
            raise InputError(
                f"--workers {most}: this needs {most + _OWN_FILES} open files, but the limit here is {files}; "
                f"give at most {files - _OWN_FILES} workers, or raise the limit (ulimit -Hn)"
            )


def durations_of(text: str) -> tuple[float, ...]:
    """Seconds, in ascending order."""
    return tuple(sorted({_duration(word) for word in words_of(text, "--durations", "write a list such as 1ms,10ms")}))


def _duration(word: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*(us|ms|s)", word)
    if not found:
        raise InputError(f"--durations: '{word}' is not a duration; write a number and us, ms or s, such as 10ms")
    seconds = float(found[1]) * _UNITS_S[found[2]]
    if not _SHORTEST_S <= seconds <= _LONGEST_S:
        raise InputError(f"--durations: {word} is outside the range from 1us to 3600s")
    return seconds


def shown_duration(seconds: float) -> str:
    for unit, size in reversed(_UNITS_S.items()):
        if seconds >= size * 0.9999:
            return f"{seconds / size:.6g} {unit}"
    return f"{seconds:g} s"


def workers_of(text: str) -> tuple[int, ...]:
    return _numbers(text, "--workers", "8,32", _MOST_WORKERS)


def io_threads_of(text: str) -> tuple[int, ...]:
    return _numbers(text, "--io-threads", "1,4", _MOST_IO_THREADS)


def _numbers(text: str, option: str, example: str, most: int) -> tuple[int, ...]:
    words = words_of(text, option, f"write a list such as {example}")
    for word in words:
        if not word.isascii() or not word.isdigit() or not 1 <= int(word) <= most:
            raise InputError(f"{option}: '{word}' is not a whole number from 1 to {most}")
    return tuple(sorted({int(word) for word in words}))


def transports_of(text: str) -> tuple[str, ...]:
    words = words_of(text, "--transports", "write a list such as mailbox,ws")
    for word in words:
        if word not in TRANSPORTS:
            raise InputError(
                f"--transports: there is no transport '{word}'{did_you_mean(word, list(TRANSPORTS))}; there are "
                f"{', '.join(TRANSPORTS)}"
            )
    return words


def peers_of(paths: Sequence[Path]) -> tuple[str, ...]:
    for path in paths:
        if path.suffix != ".py" or not path.is_file():
            raise InputError(f"--peer {path}: there is no such Python file")
    return tuple(str(path.resolve()) for path in paths)
