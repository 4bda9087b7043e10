"""A rules file of Open MPI. culmen reads, interprets and writes it as the library does.

These facts were found by experiments with Open MPI 4.1.4 and 5.0.11:

- Open MPI looks for the first rule whose number of ranks is larger than that of the communicator. The rule before it
  holds; without such a rule, the last one holds. The first rule also holds for smaller communicators. The same is true
  for message sizes.
- The first message size of each number of ranks must be 0.
- A second table of the same collective replaces the first one.
- Numbers are read as by ``fscanf("%li")``: 0x400 is 1024, 010000 is 4096, and 08 is the two numbers 0 and 8.
- Everything else is skipped.
- After one mistake, the whole file counts as empty, without a message.
- Algorithm 0 is the MPI's own choice.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, TypeVar

from ..._core import InputError

# In the order of their numbers in a rules file.
COLLECTIVES = (
    "allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "bcast", "exscan",
    "gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "scatter", "scatterv",
    "neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw",
)  # fmt: skip
Span = tuple[int, int | None]  # the first and the last value; None if there is no end
_MOST, _DIGITS = 2**63 - 1, 21  # the digits are those in base 8
_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]*|0[0-7]*|[1-9]\d*)", re.ASCII)
_Rule = TypeVar("_Rule")
_OCTAL = re.compile(r"[+-]?0+[1-9]\d*", re.ASCII)


@dataclass(frozen=True)
class Row:
    """A rule for messages from ``size`` bytes on, as the file counts them. ``fan``: number of chains; 0 means 1.
    ``segment``: bytes of a segment; 0 for the whole message. ``requests``: largest number of them; 0 if not given."""

    size: int
    algorithm: int
    fan: int = 0
    segment: int = 0
    line: int = 0
    requests: int = 0


@dataclass(frozen=True)
class Ranks:
    """The rules for communicators from ``ranks`` ranks on."""

    ranks: int
    rows: tuple[Row, ...]
    line: int = 0


@dataclass(frozen=True)
class Table:
    """The rules of one collective. ``number``: the number of the collective in the file."""

    number: int
    ranks: tuple[Ranks, ...]
    line: int = 0

    @property
    def name(self) -> str:
        return COLLECTIVES[self.number]


@dataclass(frozen=True)
class Rules:
    """``version``: version of the file's format; 0 if the file does not give it. ``rest``: line of the first word that
    Open MPI does not read; 0 if it reads all. ``skipped``: words that are no numbers, with their lines. ``octal``:
    numbers that begin with 0."""

    tables: tuple[Table, ...] = field(default_factory=tuple)
    version: int = 0
    rest: int = 0
    skipped: tuple[tuple[str, int], ...] = ()
    octal: tuple[tuple[str, int], ...] = ()

    @property
    def has_algorithms(self) -> bool:
        """Whether a rule names an algorithm."""
        return any(row.algorithm for table in self.tables for each in table.ranks for row in each.rows)

    def table(self, name: str) -> Table | None:
        """The table that holds."""
        return next((table for table in reversed(self.tables) if table.name == name), None)

    def row(self, name: str, ranks: int, size: int) -> Row | None:
        """The row that holds for a communicator and a message. None for the MPI's own choice. ``size``: bytes, as the
        file counts them."""
        table = self.table(name)
        if table is None or not table.ranks:
            return None
        rows = table.ranks[place_of([each.ranks for each in table.ranks], ranks)].rows
        return rows[place_of([row.size for row in rows], size)] if rows else None


def place_of(starts: Sequence[int], value: int) -> int:
    """The index of the rule that Open MPI uses: the last one before the first whose start is larger than the value."""
    last = 0
    for place, start in enumerate(starts):
        if start > value:
            break
        last = place
    return last


def reachable(rules: Sequence[_Rule], starts: Sequence[int]) -> Iterator[tuple[Span, _Rule]]:
    """Each rule that holds, with its first and its last value. The last value is None if there is no end."""
    found: list[tuple[int, int]] = []  # from this value on, the rule at this place
    past = 0  # of the rules that start no later than the value, those before the first later start
    for edge in sorted({0, *starts}) if rules else []:
        while past < len(starts) and starts[past] <= edge:
            past += 1
        place = max(0, past - 1)
        if not found or found[-1][1] != place:
            found.append((edge, place))
    ends = [*(first - 1 for first, _ in found[1:]), None]
    for (first, place), last in zip(found, ends, strict=False):
        yield (first, last), rules[place]


class RulesError(InputError):
    """Open MPI would ignore the file."""


def read_rules(path: Path) -> Rules:
    """Raises InputError if it cannot be read, RulesError if Open MPI ignores it."""
    try:
        text = path.read_bytes().decode("utf-8", errors="replace")  # only \n ends lines
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    return _Reader(path, text).read()


def numbers_in(word: str) -> list[str]:
    """The numbers that Open MPI reads from a word. If no number begins at a place, it skips a sign, if there is one,
    and one more character."""
    out, at = [], 0
    while at < len(word):
        if found := _NUMBER.match(word, at):
            out.append(found[0])
            at = found.end()
        else:
            at += 1 + (word[at] in "+-")
    return out


def value_of(number: str) -> int | None:
    """The value of a number that Open MPI reads; None if it has too many digits."""
    digits = number.lstrip("+-").lower()
    base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") else 10
    digits = digits.removeprefix("0x").lstrip("0") or "0"
    if len(digits) > _DIGITS:
        return None
    return int(digits, base) * (-1 if number.startswith("-") else 1)


class _Reader:
    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        found = re.match(r"rule-file-version-(\d+)", text, re.ASCII)
        self._version = int(found[1].lstrip("0")[:_DIGITS] or "0") if found else 0
        lines = [line.partition("#")[0].split() for line in text.split("\n")]
        if found:
            lines[0] = lines[0][1:]
        words = [(word, number) for number, line in enumerate(lines, 1) for word in line]
        self._skipped = tuple((word, line) for word, line in words if not _NUMBER.fullmatch(word))
        self._octal = tuple((word, line) for word, line in words if _NUMBER.fullmatch(word) and _OCTAL.fullmatch(word))
        self._words = [(number, line) for word, line in words for number in numbers_in(word)]
        self._at = 0

    def read(self) -> Rules:
        count = self._number("the number of collectives", len(COLLECTIVES))
        tables = tuple(self._table() for _ in range(count))
        rest = self._words[self._at][1] if self._at < len(self._words) else 0
        return Rules(tables, self._version, rest, self._skipped, self._octal)

    def _table(self) -> Table:
        line = self._line()
        number = self._number("the number of a collective", len(COLLECTIVES) - 1)
        count = self._number("how many numbers of ranks follow")
        return Table(number, tuple(self._ranks() for _ in range(count)), line)

    def _ranks(self) -> Ranks:
        line = self._line()
        ranks = self._number("a number of ranks")
        count = self._number("how many message sizes follow")
        rows = tuple(self._row() for _ in range(count))
        if rows and rows[0].size != 0:
            self._refuse(f"the first message size for {ranks} ranks is {rows[0].size}, but it must be 0", rows[0].line)
        return Ranks(ranks, rows, line)

    def _row(self) -> Row:
        line = self._line()
        names = ("a message size", "the number of an algorithm", "a fan-out", "a segment size")
        size, algorithm, fan, segment = (self._number(name) for name in names)
        more = self._version > 1 and self._at < len(self._words) and self._words[self._at][1] == line
        requests = self._number("a number of requests") if more else 0
        return Row(size, algorithm, fan, segment, line, requests)

    def _line(self) -> int:
        return self._words[min(self._at, len(self._words) - 1)][1] if self._words else 1

    def _number(self, what: str, most: int = _MOST) -> int:
        if self._at == len(self._words):
            self._refuse(f"the file ends, but {what} must follow", self._line())
        word, line = self._words[self._at]
        self._at += 1
        if word.startswith("-"):
            self._refuse(f"{what} must stand here, not '{word}'", line)
        if (value := value_of(word)) is None or value > most:
            self._refuse(f"{word} is too large for {what}; the largest is {most}", line)
        return value

    def _refuse(self, why: str, line: int) -> NoReturn:
        raise RulesError(f"{self._path}, line {line}: {why}. Open MPI ignores the whole file, and says nothing.")


def written(rules: Rules, about: Iterable[str]) -> str:
    """The text of the file. ``about``: comments for its head."""
    return "\n".join([*(f"# {line}" for line in about), *_lines(rules)]) + "\n"


def _lines(rules: Rules) -> Iterator[str]:
    yield f"{len(rules.tables)}  # collectives"
    for table in rules.tables:
        yield f"{table.number}  # {table.name}"
        yield f"{len(table.ranks)}  # numbers of ranks"
        for each in table.ranks:
            yield f"{each.ranks}  # ranks, and more"
            yield f"{len(each.rows)}  # message sizes: bytes, algorithm, fan-out, segment"
            yield from (f"{row.size} {row.algorithm} {row.fan} {row.segment}" for row in each.rows)
