"""A rules file of Open MPI 6 in JSON. culmen reads and writes it.

No released Open MPI reads such a file: 5.0 does not, and 6.0 is not released. These facts come from the sources of
Open MPI 6, and were not tried:

- Open MPI reads a file as JSON. If it is no JSON, Open MPI reads it as a file of Open MPI 4.
- The first entry that fits the communicator holds, and in it the first rule that fits the message size. There is no
  search in later entries. Without such a rule, Open MPI chooses the algorithm itself.
- Both ends of a range count. A range without an end has none.
- Unknown keys are skipped. So is a rule with an unknown algorithm: the next one that fits holds.
- The reader knows reduce_scatter and reduce_scatter_block, but the schema has other names for them.
- After an unknown collective, or a wrong value, the whole file counts as empty, without a message.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...launch.mpi.collectives import DEFAULT, Collectives
from .file import COLLECTIVES, Ranks, Row, Rules, RulesError, Span, Table, reachable
from .spans import first_that_fit

ANYWHERE, ONE_NODE, ONE_PER_NODE = "any", "single-node", "one-per-node"
_OWN_CHOICE = "ignore"  # Open MPI's name of algorithm 0
_MOST_RANKS, _MOST = 2**31 - 1, 2**63 - 1
_IN_FILE = {"rule_file_version", "module", "collectives", "$schema"}
_IN_GROUP = {"comm_size_min", "comm_size_max", "comm_rank_distribution", "rules"}
_IN_RULE = {"msg_size_min", "msg_size_max", "alg", "reqs", "faninout", "seg_size"}
_FURTHER = {  # algorithms that Open MPI 5 does not have
    "allgather": {2: "bruck-k-fanout", 8: "direct-messaging"},
    "allreduce": {7: "allgather_reduce"},
    "reduce": {8: "knomial"},
}
_OWN_NAMES = {("allgatherv", "default"): "gather_bcast"}  # culmen's names of some algorithms of Open MPI


@dataclass(frozen=True)
class Rule:
    """``sizes``: bytes, as the file counts them. ``algorithm``: a number or a name."""

    sizes: Span
    algorithm: int | str
    fan: int = 0
    segment: int = 0
    requests: int = 0


@dataclass(frozen=True)
class Group:
    """The rules for some communicators. ``where``: ANYWHERE, ONE_NODE, or ONE_PER_NODE."""

    ranks: Span
    rules: tuple[Rule, ...]
    where: str = ANYWHERE


@dataclass(frozen=True)
class JsonRules:
    """``skipped``: for each key that Open MPI skips, a text that says so."""

    tables: dict[str, tuple[Group, ...]]
    skipped: tuple[str, ...] = field(default=(), compare=False)


def is_json(path: Path) -> bool:
    """Whether a file is for Open MPI 6, and no tree of MPICH. Its JSON may have mistakes."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return text.lstrip().startswith("{") and re.search(r'"(rule_file_version|collectives)"\s*:', text) is not None


def read_json(path: Path) -> JsonRules:
    """Raises InputError if it cannot be read, RulesError if Open MPI ignores it."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise RulesError(f"{path} is no JSON, so Open MPI 6 reads only its numbers: {error}") from None
    try:
        return _Reader().read(found)
    except RulesError as error:
        raise RulesError(f"{path}: {error}. Open MPI ignores the whole file, and says nothing.") from None


class _Reader:
    def __init__(self) -> None:
        self._skipped: list[str] = []

    def read(self, found: Any) -> JsonRules:
        tables = found.get("collectives") if isinstance(found, dict) else None
        if not isinstance(tables, dict):
            raise RulesError("it must have an object 'collectives'")
        self._check_keys(found, _IN_FILE, "the file")
        out = {}
        for name, groups in tables.items():
            if name not in COLLECTIVES:
                own = {each.replace("_", ""): each for each in COLLECTIVES}.get(name)
                raise RulesError(f"there is no collective '{name}'" + (f"; write {own}" if own else ""))
            if not isinstance(groups, list):
                raise RulesError(f"{name} must be a list")
            out[name] = tuple(self._group(each, f"{name}, entry {k}") for k, each in enumerate(groups, 1))
        return JsonRules(out, tuple(self._skipped))

    def _group(self, found: Any, place: str) -> Group:
        rules = found.get("rules") if isinstance(found, dict) else None
        if not isinstance(rules, list):
            raise RulesError(f"{place} must be an object with a list 'rules'")
        self._check_keys(found, _IN_GROUP, place)
        where = found.get("comm_rank_distribution", ANYWHERE)
        if where not in (ANYWHERE, ONE_NODE, ONE_PER_NODE):
            self._skipped.append(f"{place}: there is no comm_rank_distribution '{where}'; Open MPI takes any.")
            where = ANYWHERE
        if isinstance(found.get("comm_size_max"), str):
            self._skipped.append(f"{place}: Open MPI may read this comm_size_max as -1; leave it out.")
        ranks = _span(found, "comm_size_min", "comm_size_max", _MOST_RANKS, place)
        return Group(ranks, tuple(self._rule(each, f"{place}, rule {k}") for k, each in enumerate(rules, 1)), where)

    def _rule(self, found: Any, place: str) -> Rule:
        if not isinstance(found, dict):
            raise RulesError(f"{place} must be an object")
        self._check_keys(found, _IN_RULE, place)
        sizes = _span(found, "msg_size_min", "msg_size_max", _MOST, place)
        algorithm = found.get("alg", 0)
        if "alg" not in found or isinstance(algorithm, bool) or not isinstance(algorithm, int | str):
            self._skipped.append(f"{place}: 'alg' must be the number or the name of an algorithm.")
            algorithm = 0
        more = (_number(found, key, 0, 2**31 - 1, place) or 0 for key in ("faninout", "seg_size", "reqs"))
        return Rule(sizes, algorithm, *more)

    def _check_keys(self, found: dict[str, Any], known: set[str], place: str) -> None:
        by_letters = {key.replace("_", ""): key for key in known}
        for key in found.keys() - known:
            meant = by_letters.get(key.replace("_", ""))
            self._skipped.append(f"{place}: Open MPI skips '{key}'" + (f"; write {meant}." if meant else "."))


def _span(found: dict[str, Any], first: str, last: str, most: int, place: str) -> Span:
    low = _number(found, first, 0, most, place)
    return most if low is None else low, _number(found, last, None, most, place)


def _number(found: dict[str, Any], key: str, usual: int | None, most: int, place: str) -> int | None:
    """None: there is no end."""
    value = found.get(key, usual)
    if value is None and key not in found:
        return None
    if isinstance(value, str) and value[:3] in ("inf", "Inf", "INF"):
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise RulesError(f"{place}: {key} must be a number from 0 to {most}, or 'inf', not {json.dumps(value)}")
    return value


def written(rules: JsonRules) -> str:
    """The text of the file."""
    tables = {name: [_group_out(each) for each in groups] for name, groups in rules.tables.items()}
    return json.dumps({"rule_file_version": 3, "module": "tuned", "collectives": tables}, indent=1) + "\n"


def _group_out(group: Group) -> dict[str, Any]:
    where = {} if group.where == ANYWHERE else {"comm_rank_distribution": group.where}
    return _range_out(group.ranks, "comm_size") | where | {"rules": [_rule_out(each) for each in group.rules]}


def _rule_out(rule: Rule) -> dict[str, Any]:
    more = {"faninout": rule.fan, "seg_size": rule.segment, "reqs": rule.requests}
    out = _range_out(rule.sizes, "msg_size") | {"alg": rule.algorithm}
    return out | {key: value for key, value in more.items() if value}


def _range_out(span: Span, name: str) -> dict[str, int]:
    return {f"{name}_min": span[0]} | ({} if span[1] is None else {f"{name}_max": span[1]})


def from_numbers(rules: Rules) -> JsonRules:
    """The same choices as a file of Open MPI 4 and 5 has there. Rules that never hold are left out."""
    tables = {table.name: rules.table(table.name) or table for table in rules.tables}
    return JsonRules(
        {
            name: tuple(
                Group(span, _rules_of(each)) for span, each in reachable(table.ranks, [e.ranks for e in table.ranks])
            )
            for name, table in tables.items()
        }
    )


def _rules_of(ranks: Ranks) -> tuple[Rule, ...]:
    return tuple(
        Rule(sizes, row.algorithm, row.fan, row.segment, row.requests)
        for sizes, row in reachable(ranks.rows, [row.size for row in ranks.rows])
    )


def to_numbers(rules: JsonRules, known: Collectives) -> Rules:
    """The same choices in the form of Open MPI 4 and 5. ``known``: of the MPI that will read them. Raises InputError
    if they cannot be said in this form."""
    tables = (_table(name, groups, known) for name, groups in rules.tables.items())
    return Rules(tuple(sorted(tables, key=lambda table: table.number)))


def _table(name: str, groups: Sequence[Group], known: Collectives) -> Table:
    for place, group in enumerate(groups, 1):
        if group.where != ANYWHERE:
            raise InputError(
                f"{name}, entry {place}: Open MPI 4 and 5 have no rules for communicators with the distribution "
                f"'{group.where}'; only the JSON of Open MPI 6 has them"
            )
    pieces = first_that_fit([group.ranks for group in groups])
    ranks = (
        Ranks(first, _rows(name, () if place is None else groups[place].rules, known)) for (first, _), place in pieces
    )
    return Table(COLLECTIVES.index(name), tuple(ranks))


def _rows(name: str, rules: Iterable[Rule], known: Collectives) -> tuple[Row, ...]:
    usable = [rule for rule in rules if name_of(name, rule.algorithm, known) is not None]
    pieces = first_that_fit([rule.sizes for rule in usable])
    return tuple(
        Row(first, 0) if place is None else _row(name, first, usable[place], known) for (first, _), place in pieces
    )


def _row(name: str, size: int, rule: Rule, known: Collectives) -> Row:
    if rule.requests:
        raise InputError(f"{name}: culmen writes no numbers of requests for Open MPI 4 and 5, but a rule has 'reqs'")
    number = _number_of(name, rule.algorithm, known)
    if name in known.of and number > len(known.of[name]["algorithms"]):
        raise InputError(f"{name}: only Open MPI 6 has the algorithm {rule.algorithm}")
    return Row(size, number, rule.fan, rule.segment)


def _number_of(name: str, algorithm: int | str, known: Collectives) -> int:
    if isinstance(algorithm, int):
        return algorithm
    if name not in known.of:
        raise InputError(f"{name}: culmen does not know the number of the algorithm {algorithm}")
    algorithm = _OWN_NAMES.get((name, algorithm), algorithm)
    return next(number for number, each in _names(name, known).items() if each == algorithm)


def name_of(collective: str, algorithm: int | str, known: Collectives) -> str | None:
    """The name of an algorithm in Open MPI 6; DEFAULT for its own choice. None if there is none. ``known``: of
    Open MPI 5."""
    names = _names(collective, known)
    algorithm = algorithm if isinstance(algorithm, int) else _OWN_NAMES.get((collective, algorithm), algorithm)
    if algorithm in (0, _OWN_CHOICE):
        return DEFAULT
    if collective not in known.of:
        return f"number {algorithm}" if isinstance(algorithm, int) else algorithm
    return names.get(algorithm) if isinstance(algorithm, int) else algorithm if algorithm in names.values() else None


def _names(collective: str, known: Collectives) -> dict[int, str]:
    own = known.of.get(collective, {}).get("algorithms", [])
    return {0: _OWN_CHOICE, **dict(enumerate(own, 1)), **_FURTHER.get(collective, {})}
