"""Checks the numbers in tables of samples, which users can edit or damage."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from .._core import InputError

_MOST = 2**63  # the first whole number that does not fit into 64 bits
_FLAGS = ("late", "warm_up", "verified")
_MAY_BE_EMPTY = ("nodes", "ppn")  # a route that ended early has none
_FEWEST = {"ranks": 1}


class Cells:
    """``numbers``: the columns with numbers, and their Arrow types. Remembers good cells, because most are repeated."""

    def __init__(self, path: Path, numbers: Mapping[str, str]) -> None:
        self._path, self._numbers = path, numbers
        self._good: dict[str, set[str]] = {name: set() for name in numbers}

    def check(self, row: Mapping[str | None, str], line: int) -> None:
        """Raises InputError if the row has too many cells, or a cell that is not the number that it must be."""
        if None in row:
            raise InputError(f"{self._path}, line {line} has more cells than the first line")
        for name, good in self._good.items():
            if (word := row[name]) not in good:
                self._check(row, name, word, line)
                if word and name != "time_s":
                    good.add(word)

    def _check(self, row: Mapping[str | None, str], name: str, word: str, line: int) -> None:
        if not word and row.get("unavailable"):
            return
        if (not word and name in _MAY_BE_EMPTY) or _is_number(name, word, self._numbers[name]):
            return
        given = f"'{word}'" if word else "nothing"
        raise InputError(f"{self._path}, line {line}, column {name}: {given} is given, but it must be {_wanted(name)}")


def _is_number(name: str, word: str, kind: str) -> bool:
    try:
        value = float(word) if kind == "float64" else int(word)
    except ValueError:
        return False
    return (0.0 if kind == "float64" else _FEWEST.get(name, 0)) <= value < (2 if name in _FLAGS else _MOST)


def _wanted(name: str) -> str:
    if name in _FLAGS:
        return "0 or 1"
    return "a number of seconds, at least 0" if name == "time_s" else f"a whole number, at least {_FEWEST.get(name, 0)}"


def unreadable(path: Path, error: OSError | UnicodeDecodeError | csv.Error) -> InputError:
    """The error that says why a table cannot be read."""
    if isinstance(error, UnicodeDecodeError) and (line := _line_of_other_bytes(path)):
        return InputError(f"{path}, line {line}: there are bytes that are not UTF-8 text; a table must be UTF-8 text")
    return InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}")


def _line_of_other_bytes(path: Path) -> int:
    """The first line that is not UTF-8; 0 if there is none."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 0


def first_line_of(path: Path) -> Sequence[str]:
    """The names of the columns. Raises InputError if the file cannot be read."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise unreadable(path, error) from None
