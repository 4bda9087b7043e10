"""The variables I_MPI_ADJUST_… with which Intel MPI chooses the presets of collectives. culmen reads and writes them.

A preset is an algorithm with its parameters. These facts were found by experiments with two ranks under Intel MPI
2021.9 and 2021.18, with user-defined operators in MPI_Allreduce and MPI_Reduce_scatter:

- Of a range of sizes, only the upper bound counts: the first condition whose upper bound is not below the size holds.
  Above all upper bounds, the last condition holds. The manual says that both ends of a range count.
- If a condition gives a number of ranks, sizes do not count: the first condition whose largest number of ranks is not
  below that of the communicator holds, and the last one above all.
- A later condition with the same upper bound replaces the earlier one, at its place.
- A preset that does not exist counts as Intel MPI's own choice. So does 0.
- After a mistake in the syntax, Intel MPI ignores the variable, or reads something else: 4k is 4.
- MPI_Reduce_scatter compares the size of all blocks together.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..._core import InputError
from .file import Span

_PREFIX = "I_MPI_ADJUST_"
_LINE = re.compile(r"\s*(?:export\s+|set\s+)?(I_MPI_\w+)=(.*)|\s*setenv\s+(I_MPI_\w+)\s+(.*)", re.ASCII)
_CONDITION = re.compile(r"(\d+)(?:-(\d+))?(?:@(\d+)(?:-(\d+))?)?", re.ASCII)
_MOST = 2**31 - 1  # upper bound of a range without an end
_DIGITS = 19  # of a number at most
_HIGHEST = {  # the largest preset of Intel MPI 2021.18
    "allgather": 6, "allgatherv": 5, "allreduce": 32, "alltoall": 18, "alltoallv": 9, "alltoallw": 6, "barrier": 11,
    "bcast": 22, "exscan": 3, "gather": 5, "gatherv": 4, "reduce": 19, "reduce_scatter": 6, "reduce_scatter_block": 4,
    "scan": 3, "scatter": 5, "scatterv": 4, "iallgather": 5, "iallgatherv": 5, "iallreduce": 18, "ialltoall": 7,
    "ialltoallv": 6, "ialltoallw": 1, "ibarrier": 2, "ibcast": 5, "iexscan": 1, "igather": 2, "igatherv": 3,
    "ireduce": 4, "ireduce_scatter": 3, "ireduce_scatter_block": 3, "iscan": 1, "iscatter": 2, "iscatterv": 1,
    "sendrecv_replace": 2,
}  # fmt: skip


@dataclass(frozen=True)
class Condition:
    """``sizes``, ``ranks``: as the value gives them, both ends included; None if it does not."""

    preset: int
    sizes: tuple[int, int] | None = None
    ranks: tuple[int, int] | None = None


@dataclass(frozen=True)
class Variable:
    """``collective``: such as "bcast". ``text``: its value."""

    collective: str
    conditions: tuple[Condition, ...]
    line: int = 0

    @property
    def by_ranks(self) -> bool:
        """Whether numbers of ranks count, instead of sizes."""
        return any(each.ranks for each in self.conditions)


@dataclass(frozen=True)
class Environment:
    """``others``: lines with further variables of Intel MPI, and what they do. ``mistakes``: lines that cannot be read,
    and why."""

    variables: tuple[Variable, ...]
    others: tuple[tuple[int, str], ...] = ()
    mistakes: tuple[tuple[int, str], ...] = ()

    def last(self) -> dict[str, Variable]:
        """The variables that count: a later assignment replaces an earlier one."""
        return {each.collective: each for each in self.variables}


def is_environment(path: Path) -> bool:
    """Whether a file sets variables of Intel MPI."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(_LINE.match(line) for line in lines)


def read_environment(path: Path) -> Environment:
    """Lines such as "export NAME=VALUE", "NAME=VALUE" and "setenv NAME VALUE"; others do not count. Raises InputError
    if the file cannot be read."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    variables: list[Variable] = []
    others: list[tuple[int, str]] = []
    mistakes: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if not (found := _LINE.match(line)):
            continue
        name, value = found[1] or found[3], _unquoted(found[2] if found[1] else found[4])
        collective = name.removeprefix(_PREFIX).lower()
        if not name.startswith(_PREFIX) or collective not in _HIGHEST:
            others.append((number, _about(name, value)))
            continue
        try:
            variables.append(Variable(collective, tuple(_conditions(value)), number))
        except InputError as error:
            mistakes.append((number, f"{name}: {error}"))
    return Environment(tuple(variables), tuple(others), tuple(mistakes))


def _about(name: str, value: str) -> str:
    if name.startswith(_PREFIX) and name.endswith("_LIST"):
        return f"{name}: the autotuner of Intel MPI tries only the presets {value}."
    if name in ("I_MPI_TUNING", "I_MPI_TUNING_BIN"):
        return f"{name}: Intel MPI may take other presets from {value}, which culmen cannot read."
    return f"culmen does not explain {name}."


def _unquoted(value: str) -> str:
    value = value.strip()
    if value[:1] in ("'", '"') and (end := value.find(value[0], 1)) > 0:
        return value[1:end]
    return re.split(r"\s+#|\s*;\s*export\b", value)[0].strip()


def _conditions(value: str) -> Iterator[Condition]:
    for part in value.removesuffix(";").split(";"):
        preset, _, conditions = part.partition(":")
        if not re.fullmatch(r"\d+", preset, re.ASCII):
            raise InputError(f"the number of a preset must stand here, not '{preset}'; Intel MPI ignores the variable")
        if not conditions:
            yield Condition(_number(preset))
            continue
        for each in conditions.split(","):
            if not (found := _CONDITION.fullmatch(each)):
                raise InputError(
                    f"'{each}' is no condition, such as 1024, 0-1024 or 0-1024@2-16; Intel MPI ignores the variable, "
                    "or reads other numbers"
                )
            low, high, least, most = (None if digits is None else _number(digits) for digits in found.groups())
            ranks = None if least is None else (least, least if most is None else most)
            yield Condition(_number(preset), (low or 0, (low or 0) if high is None else high), ranks)


def _number(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise InputError(f"{digits[:_DIGITS]}… has {len(digits)} digits; a number may have at most {_DIGITS}")
    return int(digits)


def holding(variable: Variable) -> list[tuple[Span, Condition]]:
    """The conditions that hold somewhere, each with its sizes; if ``by_ranks``, with its numbers of ranks."""
    by_ranks = variable.by_ranks
    last: dict[int | None, Condition] = {}
    for each in variable.conditions:
        of = each.ranks if by_ranks else each.sizes
        last[of[1] if of else None] = each
    out: list[tuple[Span, Condition]] = []
    first = int(by_ranks)  # of the next piece
    for bound, condition in last.items():
        if bound is None:
            return [*out, ((first, None), condition)]
        if bound >= first:
            out.append(((first, bound), condition))
            first = bound + 1
    end = next(reversed(last.values()), None)
    if out and out[-1][1] is end:
        first = out.pop()[0][0]
    return [*out, ((first, None), end)] if end else out


def has_preset(variable: Variable, condition: Condition) -> bool:
    """Whether there is such a preset, other than Intel MPI's own choice."""
    return 0 < condition.preset <= _HIGHEST[variable.collective]


def findings(found: Environment) -> list[tuple[int, str]]:
    """Lines with mistakes, and texts."""
    out = [(line, f"{text}.") for line, text in found.mistakes]
    last = found.last()
    for each in found.variables:
        if last[each.collective] is not each:
            line = last[each.collective].line
            out.append(
                (each.line, f"{each.collective}: line {line} sets the variable again; this line does not count.")
            )
        else:
            out += [(each.line, f"{each.collective}: {text}") for text in _of_variable(each)]
    return sorted(out, key=lambda each: each[0])


def _of_variable(variable: Variable) -> Iterator[str]:
    by_ranks = variable.by_ranks
    there = {id(condition): span for span, condition in holding(variable)}
    if by_ranks and any(each.sizes for each in variable.conditions):
        yield "Intel MPI ignores all message sizes, because a condition gives a number of ranks."
    for each in variable.conditions:
        if each.preset > (highest := _HIGHEST[variable.collective]):
            yield f"there is no preset {each.preset}; Intel MPI 2021.18 has 0 to {highest}, and chooses itself."
        given = each.ranks if by_ranks else each.sizes
        if id(each) not in there:
            yield f"'{_said(each)}' never holds: other conditions fit all its cases."
        elif given and not by_ranks:
            span = there[id(each)]
            if span[0] < given[0]:
                yield f"'{_said(each)}' also holds for sizes from {span[0]} on: lower bounds do not count."
            if span[1] is None and given[1] < _MOST:
                yield f"'{_said(each)}' also holds for larger sizes, because it is the last condition."
            if span[0] > given[0]:
                yield f"'{_said(each)}' holds only from {span[0]} on: an earlier condition also fits."


def _said(each: Condition) -> str:
    sizes = "" if each.sizes is None else ":" + _range(each.sizes)
    return f"{each.preset}{sizes}" + ("" if each.ranks is None else "@" + _range(each.ranks))


def _range(span: tuple[int, int]) -> str:
    return str(span[0]) if span[0] == span[1] else f"{span[0]}-{span[1]}"


def written(variables: Iterable[Variable]) -> str:
    """Lines for a shell that choose the same presets. Manual and library agree on them: their ranges follow each
    other, and the last one has no end. Variables without a choice are left out."""
    return "".join(
        f'export {_PREFIX}{each.collective.upper()}="{value}"\n' for each in variables if (value := _value(each))
    )


def _value(variable: Variable) -> str:
    parts, by_ranks = [], variable.by_ranks
    for (first, last), each in holding(variable):
        span = _range((first, max(first, _MOST) if last is None else last))
        parts.append(f"{each.preset}:0-{_MOST}@{span}" if by_ranks else f"{each.preset}:{span}")
    return ";".join(parts)
