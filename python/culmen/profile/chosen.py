"""A part of a profile, which the user chose."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from .._core import InputError
from ..base.text import did_you_mean, enumerated
from .amounts import shown_range
from .recorded import Calls, Rank

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_SIZE = re.compile(r"(\d+)\s*([KMG]?)(?:i?B)?", re.I)


@dataclass(frozen=True)
class Choice:
    """Patterns of names, as in a shell; empty for all."""

    functions: tuple[str, ...] = ()
    communicators: tuple[str, ...] = ()
    sizes: tuple[int, int] | None = None
    """The least and the most bytes of a call; None for all."""

    def __bool__(self) -> bool:
        return bool(self.functions or self.communicators or self.sizes)

    def among(self, ranks: list[Rank]) -> list[Rank]:
        """The same ranks with the chosen calls. Raises InputError if a pattern fits nothing."""
        calls = [each for rank in ranks for each in rank.calls]
        _check(self.functions, {each.function for each in calls}, "--functions", _is_function)
        names = {name for each in calls for name in (each.communicator, each.communicators)}
        _check(self.communicators, names, "--communicators", fnmatchcase)
        return [replace(rank, calls=[each for each in rank.calls if self._has(each)]) for rank in ranks]

    def remark_on(self, ranks: list[Rank]) -> str:
        """A sentence if no call has a chosen size; otherwise empty. ranks: with all calls."""
        if self.sizes is None or any(rank.calls for rank in self.among(ranks)):
            return ""
        others = [bytes_of(each) for rank in replace(self, sizes=None).among(ranks) for each in rank.calls]
        sizes = [shown_range(*size) for size in sorted({size for size in others if size is not None})]
        there = f"; the profile has {enumerated(sizes)}" if sizes else ""
        return f"No call has a size of {shown_range(*self.sizes)}{there}."

    def _has(self, calls: Calls) -> bool:
        return (
            (not self.functions or any(_is_function(calls.function, one) for one in self.functions))
            and (not self.communicators or any(_is_communicator(calls, one) for one in self.communicators))
            and (self.sizes is None or _overlap(bytes_of(calls), self.sizes))
        )


def bytes_of(calls: Calls) -> tuple[int, int] | None:
    """Least and most bytes of a call of this size class; None if it is not known."""
    return None if calls.size_class is None else (2**calls.size_class // 2, 2**calls.size_class - 1)


def choice(functions: str | None, communicators: str | None, sizes: str | None) -> Choice:
    """The choice from the words of a command line. Raises InputError for wrong sizes."""
    return Choice(_list(functions), _list(communicators), _sizes(sizes) if sizes is not None else None)


def _list(words: str | None) -> tuple[str, ...]:
    return tuple(word for word in (words or "").split(",") if word)


def _sizes(given: str) -> tuple[int, int]:
    parts = [_SIZE.fullmatch(part.strip()) for part in given.split("-")]
    values = [int(part[1]) * _UNITS[part[2].upper()] for part in parts if part]
    if len(values) != len(parts) or len(values) > 2 or values != sorted(values):
        raise InputError(f"--sizes must be a size or a range such as 1K-4M, got '{given}'")
    return (values[0], values[-1])


def _overlap(one: tuple[int, int] | None, other: tuple[int, int]) -> bool:
    return one is not None and one[0] <= other[1] and other[0] <= one[1]


def _is_function(name: str, pattern: str) -> bool:
    """Whether a pattern fits a function. The pattern may omit MPI_, and the case of letters does not matter."""
    short, wanted = name.lower().removeprefix("mpi_"), pattern.lower().removeprefix("mpi_")
    return fnmatchcase(short, wanted)


def _is_communicator(calls: Calls, pattern: str) -> bool:
    """Whether a pattern fits a communicator: its own name, or the common name of all parts of a split."""
    return fnmatchcase(calls.communicator, pattern) or fnmatchcase(calls.communicators, pattern)


def _check(patterns: Iterable[str], names: set[str], option: str, fits: Callable[[str, str], bool]) -> None:
    known = sorted(names - {""})
    for pattern in patterns:
        if not any(fits(name, pattern) for name in names):
            near = did_you_mean(pattern, known) or f"; the profile has {', '.join(known)}"
            raise InputError(f"{option}: nothing in the profile is called '{pattern}'{near}")
