"""The real effect of a rules file of Open MPI, in words, and its mistakes."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeVar

from ...base.text import plural
from ...bench.words import shown_size
from ...launch.mpi.collectives import DEFAULT, Collectives
from ...launch.mpi.versions import UNSAFE
from .file import COLLECTIVES, Ranks, Row, Rules, Span, Table, numbers_in, reachable, value_of
from .tried import Expected

_Rule = TypeVar("_Rule", Ranks, Row)
LARGEST = 2**26  # bytes of a message that a test sends
_ELEMENT = 4  # bytes of an element in its reductions
_STEP = 8  # bytes; a multiple of the sizes of the test's datatypes
# Why an algorithm is unsafe, by the key that lists it in the data file. The last key counts.
_REASONS = {
    "commutative_only": "needs operators that commute",
    "splits_counts": "needs the same count and datatype on all ranks",
    **UNSAFE,
}


@dataclass(frozen=True)
class Finding:
    line: int
    text: str
    ends_programs: bool = False  # those that make such a call


@dataclass(frozen=True)
class Meaning:
    """``ranks``: the first and the last number; the last one is None if there is no end. ``sizes``: the same, in bytes
    of a message; None for all sizes."""

    collective: str
    ranks: Span
    sizes: Span | None
    algorithm: str
    kind: str  #: the kind of size, see Collectives
    row: Row


class Lint:
    """``known``: the collectives of the MPI that reads the file."""

    def __init__(self, rules: Rules, known: Collectives, title: str) -> None:
        self._rules, self._known, self._title = rules, known, title

    def findings(self) -> list[Finding]:
        """All findings, in the order of their lines."""
        return sorted(self._all(), key=lambda each: each.line)

    def meanings(self) -> Iterator[Meaning]:
        """The rules that hold somewhere."""
        for name in COLLECTIVES:
            table = self._rules.table(name)
            if table is not None and name in self._known.of:
                yield from self._of(table)

    def expected(self, most_ranks: int) -> Iterator[Expected]:
        """A call for each rule that names an algorithm, with at most ``most_ranks`` ranks."""
        for each in self.meanings():
            low, high = max(each.ranks[0], 2), most_ranks if each.ranks[1] is None else each.ranks[1]
            if each.algorithm == DEFAULT or low > min(high, most_ranks):
                continue
            ranks = self._runnable(each, low, min(high, most_ranks))
            size = _size_in(each.sizes, each.kind, ranks)
            if ranks and size is not None:
                yield Expected(each.collective, ranks, 0 if each.collective == "barrier" else size, each.algorithm)

    def _runnable(self, each: Meaning, low: int, high: int) -> int:
        """The least number of ranks that can run the algorithm; otherwise ``low``."""
        for ranks in range(low, high + 1):
            if each.algorithm in [one.name for one in self._known.algorithms(each.collective, ranks)]:
                return ranks
        return low

    def _all(self) -> Iterator[Finding]:
        for word, line in self._rules.skipped:
            numbers = " and ".join(numbers_in(word))
            does = f"reads it as {numbers}" if numbers else "skips it"
            yield Finding(line, f"'{word}' is no number; Open MPI {does}, and may read other rules.")
        for word, line in self._rules.octal:
            yield Finding(
                line, f"Open MPI reads {word} as {value_of(word)}, because a number that begins with 0 is octal."
            )
        if self._rules.rest:
            yield Finding(self._rules.rest, "Open MPI reads no further than this: the numbers before say so.")
        if self._rules.version and self._title == "Open MPI 4":
            yield Finding(1, "Open MPI 4 does not know `rule-file-version`, and ignores the whole file.")
        seen: dict[str, Table] = {}
        for table in self._rules.tables:
            if table.name in seen:
                yield Finding(
                    seen[table.name].line, f"Line {table.line} has rules for {table.name} again; these do not hold."
                )
            seen[table.name] = table
        for table in seen.values():
            yield from self._of_table(table)

    def _of_table(self, table: Table) -> Iterator[Finding]:
        if table.name not in self._known.of:
            yield Finding(
                table.line, f"culmen does not know the algorithms of {table.name}, and does not check its rules."
            )
            return
        unlike = self._known.of[table.name]["in_rules"].get("unlike")
        for each in table.ranks if unlike else ():
            if len({row.algorithm for _, row in reachable(each.rows, [row.size for row in each.rows])}) > 1:
                yield Finding(
                    each.line,
                    f"{table.name}: each rank compares its own arguments; if these differ between ranks, the ranks use "
                    "different algorithms, and hang.",
                )
        if table.ranks and table.ranks[0].ranks > 2:
            first = table.ranks[0]
            yield Finding(
                first.line,
                f"{table.name}: the rules for {first.ranks} ranks also hold for fewer ranks: no others come first.",
            )
        yield from _misplaced(table.ranks, [each.ranks for each in table.ranks], f"{table.name}, {{}} ranks")
        for each, following in itertools.zip_longest(table.ranks, table.ranks[1:]):
            yield from _misplaced(each.rows, [row.size for row in each.rows], f"{table.name}, size {{}}")
            yield from self._of_rows(table, each, following)

    def _of_rows(self, table: Table, each: Ranks, following: Ranks | None) -> Iterator[Finding]:
        names, unsafe = self._names(table), self._unsafe(table)
        zero = self._known.of[table.name]["in_rules"]["sizes"] == "zero"
        only_two = each.ranks <= 2 and following is not None and following.ranks == 3
        for row, before in zip(each.rows, [None, *each.rows], strict=False):
            name = names[row.algorithm] if row.algorithm < len(names) else None
            if name is None:
                yield Finding(
                    row.line,
                    f"{table.name} has no algorithm {row.algorithm} in {self._title}, so calls with this rule fail; "
                    f"the largest number is {len(names) - 1}.",
                    ends_programs=True,
                )
            elif name in self._known.two_ranks_only and not only_two:
                yield Finding(
                    row.line,
                    f"{table.name}: {name} ends programs with other than 2 ranks, and this rule holds there.",
                    ends_programs=True,
                )
            if name in unsafe:
                yield Finding(row.line, f"{table.name}: {name} {unsafe[name]}.")
            if row.segment and name is not None:
                yield from self._of_segment(table.name, name, row)
            if zero and row.size > 0:
                yield Finding(row.line, f"{table.name}: this rule never holds: Open MPI looks here only at size 0.")
            elif before is not None and _same(row, before):
                yield Finding(row.line, f"{table.name}: this rule changes nothing: line {before.line} says the same.")

    def _of_segment(self, collective: str, name: str, row: Row) -> Iterator[Finding]:
        of = self._known.of[collective]
        if name == DEFAULT:
            yield Finding(
                row.line,
                f"{collective}: algorithm 0 is Open MPI's own choice, so the segment size {row.segment} has no effect.",
            )
        elif name not in of.get("segmented", []):
            yield Finding(row.line, f"{collective}: {name} sends no segments, so {row.segment} has no effect.")
        elif of.get("segments_need_same_types"):
            yield Finding(row.line, f"{collective}: segments need the same count and datatype on all ranks.")

    def _names(self, table: Table) -> list[str]:
        """The names of the algorithms, by their numbers."""
        return [DEFAULT, *self._known.of[table.name]["algorithms"]]

    def _unsafe(self, table: Table) -> dict[str | None, str]:
        """The algorithms that are not safe for every program, and why."""
        of = self._known.of[table.name]
        return {name: why for key, why in _REASONS.items() for name in of.get(key, [])}

    def _of(self, table: Table) -> Iterator[Meaning]:
        kind, names = self._known.of[table.name]["in_rules"]["sizes"], self._names(table)
        for ranks, each in reachable(table.ranks, [one.ranks for one in table.ranks]):
            for sizes, row in reachable(each.rows, [one.size for one in each.rows]):
                if kind == "zero" and sizes[0] > 0:
                    continue
                name = names[row.algorithm] if row.algorithm < len(names) else f"number {row.algorithm}"
                yield Meaning(table.name, ranks, None if kind == "zero" else sizes, name, kind, row)


def _same(row: Row, other: Row) -> bool:
    of = attrgetter("algorithm", "fan", "segment", "requests")
    return bool(of(row) == of(other))


def _misplaced(rules: Sequence[_Rule], starts: Sequence[int], what: str) -> Iterator[Finding]:
    """Rules that do not hold from their start on. ``what``: a text with {} for the start."""
    begins = {id(rule): first for (first, _), rule in reachable(rules, starts)}
    replacing = _next_not_larger(starts)
    largest = 0  # place of the first rule with the largest start so far
    for place, (rule, start) in enumerate(zip(rules, starts, strict=True)):
        if id(rule) not in begins:
            yield Finding(
                rule.line,
                f"{what.format(start)}: this rule never holds: line {rules[replacing[place]].line} comes later and "
                "replaces it.",
            )
        elif begins[id(rule)] > start:
            yield Finding(
                rule.line,
                f"{what.format(start)}: this rule holds only from {begins[id(rule)]} on: line "
                f"{rules[largest].line}, which is for {starts[largest]}, comes before it.",
            )
        if start > starts[largest]:
            largest = place


def _next_not_larger(starts: Sequence[int]) -> list[int]:
    """For each start, the place of the first later one that is not larger; its own place if there is none."""
    out, open_places = list(range(len(starts))), list[int]()
    for place, start in enumerate(starts):
        while open_places and starts[open_places[-1]] >= start:
            out[open_places.pop()] = place
        open_places.append(place)
    return out


def _size_in(sizes: Span | None, kind: str, ranks: int) -> int | None:
    """Bytes of a message for which a rule holds; None if a test cannot send such a message."""
    if sizes is None:
        return _STEP
    low, high = sizes
    if kind == "element":
        return _STEP if low <= _ELEMENT * ranks and (high is None or _ELEMENT * ranks <= high) else None
    factor = ranks if kind == "all_ranks" else 1
    size = -(-max(low, 1) // (factor * _STEP)) * _STEP
    return size if size <= LARGEST and (high is None or size * factor <= high) else None


def said(each: Meaning) -> tuple[str, str, str]:
    """Ranks, message sizes and algorithm, in words."""
    low, high = each.ranks
    exactly = low if low == high else 0
    ranks = f"{low} and more" if high is None else f"up to {high}" if low <= 1 else f"{low} – {high}"
    algorithm = ["Open MPI's own choice" if each.algorithm == DEFAULT else each.algorithm]
    algorithm += [f"fan-out {each.row.fan}"] if each.row.fan else []
    algorithm += [f"segments of {shown_size(each.row.segment)}"] if each.row.segment else []
    algorithm += [f"at most {plural(each.row.requests, 'request')}"] if each.row.requests else []
    sizes = "all" if each.sizes is None else _said_sizes(*each.sizes, each.kind, exactly)
    return str(exactly or ranks), sizes, ", ".join(algorithm)


def _said_sizes(first: int, last: int | None, kind: str, ranks: int) -> str:
    """``ranks``: 0 if the rule is for several numbers of ranks."""
    of = " an element" if kind == "element" else ""
    if kind != "own" and ranks:
        first, last = -(-first // ranks), None if last is None else last // ranks
    elif kind != "own":
        of = f" / ranks{of}"
    return said_span(first, last, of)


def said_span(first: int, last: int | None, of: str = "") -> str:
    """A span of sizes in words. ``last``: None if there is no end. ``of``: a text after each size."""
    if last is None:
        return "all" if not first else f"from {shown_size(first)}{of}"
    if not first:
        return f"up to {shown_size(last)}{of}"
    return f"{shown_size(first)}{of}" if first == last else f"{shown_size(first)}{of} – {shown_size(last)}{of}"
