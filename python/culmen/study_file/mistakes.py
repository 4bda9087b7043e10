"""All mistakes of a study file, each with its line, as a compiler lists them."""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager

from .._core import InputError

Place = tuple[int | str, ...]  # keys from the top; the starts are counted from 0

_KEY = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)"""
_KEYS = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_HEADING = re.compile(rf"\s*(\[\[?)\s*({_KEYS})\s*\]")
_ENTRY = re.compile(rf"\s*({_KEYS})\s*=")


class Mistakes:
    """Each sentence begins with ``source``. ``text`` is the content of the file, if there is one."""

    def __init__(self, source: str, text: str = "") -> None:
        self.source = source
        self._lines = _lines_of(text)
        self._found: list[tuple[float, str]] = []
        self._tables: set[int | str] = set()

    def concern(self, *tables: str) -> bool:
        """Whether any of these tables has a mistake."""
        return not self._tables.isdisjoint(tables)

    def add(self, place: Place, sentences: str) -> None:
        self._tables.update(place[:1])
        line = self._line(place)
        note = f" (line {line})" if line else ""
        self._found += [(line or math.inf, f"{self.source}: {text}{note}") for text in sentences.splitlines()]

    @contextmanager
    def at(self, heading: str, *place: int | str) -> Iterator[None]:
        """Records the text of an InputError, with ``heading`` in front, instead of raising it."""
        try:
            yield
        except InputError as e:
            self.add(place, f"{heading}{e}")

    def raise_any(self) -> None:
        """Raises InputError with a line for each mistake, in the order of the file."""
        if self._found:
            raise InputError("\n".join(sentence for _, sentence in sorted(self._found, key=lambda found: found[0])))

    def _line(self, place: Place) -> int | None:
        """The line of the innermost table or key that has its own line."""
        keys = tuple(map(str, place))
        return next((self._lines[keys[:n]] for n in range(len(keys), 0, -1) if keys[:n] in self._lines), None)


def _lines_of(text: str) -> dict[tuple[str, ...], int]:
    """The first line of each table and key. A line inside a long string may look like a key; it adds an entry that
    nobody uses."""
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if heading := _HEADING.match(line):
            table = _split(heading[2])
            if heading[1] == "[[":
                table = *table, str(sum(known[:-1] == table and known[-1].isdigit() for known in found))
            found.setdefault(table, number)
        elif entry := _ENTRY.match(line):
            keys = _split(entry[1])
            for n in range(1, len(keys) + 1):
                found.setdefault(table + keys[:n], number)
    return found


def _split(keys: str) -> tuple[str, ...]:
    return tuple(key.strip("\"'") for key in re.findall(_KEY, keys))
