"""The real effect of a rules file of Open MPI 6 in JSON, in words, and its mistakes."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...launch.mpi.collectives import DEFAULT, Collectives
from .file import Row, Span
from .json_file import ANYWHERE, ONE_NODE, Group, JsonRules, Rule, name_of
from .lint import Meaning, said
from .spans import first_that_fit

_WHERE = {ANYWHERE: "", ONE_NODE: ", all on one node"}
_IGNORED = (2**63, 0)  # an empty span


class _Holding(NamedTuple):
    ranks: Span
    sizes: Span
    group: Group
    rule: Rule


class JsonLint:
    """``known``: the collectives of Open MPI 5."""

    def __init__(self, rules: JsonRules, known: Collectives) -> None:
        self._rules, self._known = rules, known

    def in_words(self) -> list[list[str]]:
        """Collective, ranks, message sizes and algorithm of each rule that holds somewhere."""
        return [
            [name, f"{ranks}{_WHERE.get(each.group.where, ', at most one on each node')}", sizes, algorithm]
            for name, groups in self._rules.tables.items()
            for each in self._holding(name, groups)
            if name_of(name, each.rule.algorithm, self._known) != DEFAULT
            for ranks, sizes, algorithm in [said(self._meaning(name, each))]
        ]

    def findings(self) -> Iterator[str]:
        yield from self._rules.skipped
        for name, groups in self._rules.tables.items():
            reached = {place for place, _ in _pieces(groups)}
            for place, group in enumerate(groups):
                where = f"{name}, entry {place + 1}"
                if place not in reached:
                    yield f"{where}: this entry never holds: {_why(group.ranks, 'entries')}."
                else:
                    yield from self._of_rules(name, group.rules, where)

    def _of_rules(self, name: str, rules: Sequence[Rule], where: str) -> Iterator[str]:
        pieces = list(first_that_fit(self._spans(name, rules)))
        reached = {place: span for span, place in reversed(pieces)}
        for place, rule in enumerate(rules):
            algorithm = name_of(name, rule.algorithm, self._known)
            if algorithm is None:
                yield f"{where}, rule {place + 1}: {name} has no algorithm {rule.algorithm}; Open MPI skips this rule."
            elif place not in reached:
                yield f"{where}, rule {place + 1}: this rule never holds: {_why(rule.sizes, 'rules')}."
            elif reached[place][0] > rule.sizes[0]:
                yield (
                    f"{where}, rule {place + 1}: this rule is for sizes from {rule.sizes[0]} on, but holds only from "
                    f"{reached[place][0]} on: an earlier rule also fits."
                )

    def _spans(self, name: str, rules: Sequence[Rule]) -> list[Span]:
        there = (name_of(name, rule.algorithm, self._known) for rule in rules)
        return [rule.sizes if each is not None else _IGNORED for rule, each in zip(rules, there, strict=True)]

    def _holding(self, name: str, groups: Sequence[Group]) -> Iterator[_Holding]:
        for place, ranks in _pieces(groups):
            rules = groups[place].rules
            for sizes, k in first_that_fit(self._spans(name, rules)):
                if k is not None:
                    yield _Holding(ranks, sizes, groups[place], rules[k])

    def _meaning(self, name: str, each: _Holding) -> Meaning:
        kind = self._known.of[name]["in_rules"]["sizes"] if name in self._known.of else "own"
        rule, algorithm = each.rule, name_of(name, each.rule.algorithm, self._known) or ""
        row = Row(each.sizes[0], 0, rule.fan, rule.segment, 0, rule.requests)
        return Meaning(name, each.ranks, None if kind == "zero" else each.sizes, algorithm, kind, row)


def _pieces(groups: Sequence[Group]) -> Iterator[tuple[int, Span]]:
    """The groups that hold somewhere, and for which numbers of ranks. A group for some distribution of ranks comes
    before the later ones only for communicators with this distribution."""
    for where in dict.fromkeys(group.where for group in groups):
        spans = [group.ranks if group.where in (where, ANYWHERE) else _IGNORED for group in groups]
        for span, place in first_that_fit(spans):
            if place is not None and groups[place].where == where:
                yield place, span


def _why(span: Span, before: str) -> str:
    empty = span[1] is not None and span[1] < span[0]
    return f"it ends at {span[1]}, before it begins at {span[0]}" if empty else f"earlier {before} fit all its cases"
