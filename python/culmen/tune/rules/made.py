"""Rules from measurements. Between two measured places, an algorithm holds only if both chose it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ...launch.mpi.collectives import DEFAULT, Collectives, parts_of
from .file import COLLECTIVES, Ranks, Row, Rules, Table

# For one collective: for each number of ranks, the measured sizes in ascending order, each with its algorithm.
Chosen = Mapping[int, Sequence[tuple[int, str]]]

_MOST_BETWEEN = 64  # numbers of ranks that get rules of their own
# The size that the MPI compares, as its data file names it. With the last two, the message size does not matter.
_OWN, _ALL_RANKS, _ONE_FOR_ALL = "own", "all_ranks", ("element", "zero")


class Step(NamedTuple):
    """An algorithm for messages from ``size`` bytes on; with ``after``, from one byte more."""

    size: int
    after: bool
    name: str


def rules_of(chosen: Mapping[str, Chosen], known: Collectives) -> Rules:
    """``chosen``: the choices for each collective. Collectives that keep the default everywhere are left out."""
    tables = []
    for name, by_ranks in chosen.items():
        entries = tuple(_different(_entries(name, by_ranks, known)))
        if any(row.algorithm for entry in entries for row in entry.rows):
            tables.append(Table(COLLECTIVES.index(name), entries))
    return Rules(tuple(sorted(tables, key=lambda table: table.number)))


def can_hold(collective: str, known: Collectives) -> bool:
    """Whether a rules file can choose an algorithm of a collective."""
    return "in_rules" in known.of.get(collective, {})


def looks_at_sizes(collective: str, known: Collectives) -> bool:
    """Whether rules can differ for the sizes of messages. If ranks can compare different sizes in one call, they would
    use different algorithms, and hang."""
    there = known.of[collective]["in_rules"]
    return there["sizes"] not in _ONE_FOR_ALL and not there.get("unlike")


def one_for_all_sizes(collective: str, known: Collectives) -> bool:
    """Whether one rule must hold for all message sizes of a collective that has messages."""
    return collective != "barrier" and not looks_at_sizes(collective, known)


def _entries(name: str, by_ranks: Chosen, known: Collectives) -> Iterator[Ranks]:
    sizes_count = looks_at_sizes(name, known)
    scale = known.of[name]["in_rules"]["sizes"] if sizes_count else _OWN
    names = [DEFAULT, *known.of[name]["algorithms"]]
    numbers = partial(_numbers, names, known.fans)
    measured = sorted(by_ranks)
    default = (Step(0, False, DEFAULT),)
    of = {n: steps(by_ranks[n]) if sizes_count else _one(by_ranks[n]) for n in measured}
    if measured[0] > 0:
        yield Ranks(0, _rows(default, numbers, 1))  # the first one also holds for fewer ranks
    for n, following in zip(measured, [*measured[1:], None], strict=True):
        yield Ranks(n, _rows(of[n], numbers, n if scale == _ALL_RANKS else 1))
        if following is None or following == n + 1:
            continue
        between = _both(of[n], of[following], set(known.two_ranks_only) | set(known.powers_of_two_only))
        if scale != _ALL_RANKS or between == default:
            yield Ranks(n + 1, _rows(between, numbers, 1))
        elif following - n <= _MOST_BETWEEN:
            yield from (Ranks(k, _rows(between, numbers, k)) for k in range(n + 1, following))
        else:
            yield Ranks(n + 1, _rows(default, numbers, 1))
    yield Ranks(measured[-1] + 1, _rows(default, numbers, 1))


def _different(entries: Iterator[Ranks]) -> Iterator[Ranks]:
    """The entries without those that repeat the entry before them, which continues to hold."""
    before = None
    for entry in entries:
        if entry.rows != before:
            yield entry
        before = entry.rows


def steps(points: Sequence[tuple[int, str]]) -> tuple[Step, ...]:
    """The default holds below the first size, and above the last one."""
    out = [Step(0, False, DEFAULT)]
    for (size, name), (next_size, following) in zip(points, [*points[1:], (0, DEFAULT)], strict=True):
        out.append(Step(size, False, name))
        if name not in (DEFAULT, following) and next_size != size + 1:
            out.append(Step(size, True, DEFAULT))
    return _shortest(out)


def _one(points: Sequence[tuple[int, str]]) -> tuple[Step, ...]:
    """The step of a collective whose rules ignore the size. There is a choice only if it is the same for all sizes."""
    names = {name for _, name in points}
    return (Step(0, False, names.pop() if len(names) == 1 else DEFAULT),)


def _both(low: Sequence[Step], high: Sequence[Step], not_all: set[str]) -> tuple[Step, ...]:
    """The steps at which both have the same algorithm; elsewhere the default. ``not_all``: algorithms that not every
    number of ranks can run."""
    out = []
    for size, after in sorted({step[:2] for step in (*low, *high)}):
        below, above = (
            [step for step in each if step[:2] <= (size, after)][-1].name for each in (low, high)
        )  # fmt: skip
        usable = below == above and below not in not_all
        out.append(Step(size, after, below if usable else DEFAULT))
    return _shortest(out)


def _shortest(found: Sequence[Step]) -> tuple[Step, ...]:
    """The steps without those that change nothing. Of steps at the same place, the last one counts."""
    last = {step[:2]: step for step in found}
    out: list[Step] = []
    for step in last.values():
        if not out or out[-1].name != step.name:
            out.append(step)
    return tuple(out)


def _numbers(names: list[str], fans: Mapping[str, int], name: str) -> tuple[int, int, int]:
    """The entries of a row for an algorithm: its number, its fan-out, and its segment size."""
    base, fan, segment = parts_of(name)
    return names.index(base), fan or fans.get(base, 0), segment


def _rows(found: Sequence[Step], numbers: Callable[[str], tuple[int, int, int]], factor: int) -> tuple[Row, ...]:
    return tuple(Row(step.size * factor + step.after, *numbers(step.name)) for step in found)
