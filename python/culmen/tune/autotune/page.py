"""The summary that `culmen autotune` prints after the program."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group
from rich.table import Table

from ...base.text import plural
from ...bench.words import shown_size
from .tuned import Choice, Tuning

_SHOWN = 15
_COLUMNS = ("communicator", "collective", "from", "algorithm", "default", "chosen", "calls", "gain")
_NO_INTERVAL = (
    "The times are medians of few calls, so the gains have no confidence interval. `culmen autotune --validate 5` "
    "measures the gain of the whole program, with its interval."
)
_RIGHT = ("from", "default", "chosen", "calls", "gain")


def page(tuning: Tuning, fixed: Sequence[str] = ()) -> Group:
    """The points at which the library found a faster algorithm than the MPI's own choice. A point is a collective on a
    communicator, with sizes from a power of two to the next one. ``fixed``: sentences about collectives
    whose algorithms the settings of the user fix."""
    title = f"{tuning.mpi}, {plural(tuning.ranks, 'rank')}"
    if tuning.off:
        return Group(title, "", f"Nothing was tuned: {tuning.off}.")
    left_out = [*fixed, *_no_choice(tuning), *_left_out(tuning.left_out)]
    if not tuning.choices:
        said = (
            f"Nothing was tuned: the program made too few calls of {_tunable(tuning, fixed)} with similar sizes, or "
            "the options leave all of them out. `culmen profile` shows the calls, and the names of the communicators."
        )
        return Group(title, "", said, *left_out)
    changed = tuning.changed
    kept = len(tuning.choices) - len(changed)
    points = plural(len(tuning.choices), "point")
    said = f"culmen chose another algorithm at {len(tuning.choices) - kept} of {points}."
    if not changed:
        return Group(title, "", said, *left_out)
    parts: list[Table | str] = [title, "", _table(changed[:_SHOWN])]
    if len(changed) > _SHOWN:
        parts.append(f"and {plural(len(changed) - _SHOWN, 'further point')} with smaller gains")
    return Group(*parts, "", _NO_INTERVAL, said, *left_out)


def _tunable(tuning: Tuning, fixed: Sequence[str]) -> str:
    return "the other collectives" if tuning.no_choice or fixed else "the same collective"


def _no_choice(tuning: Tuning) -> Iterator[str]:
    if tuning.no_choice:
        yield f"In this MPI, culmen cannot choose the algorithm of {' and '.join(_functions(tuning.no_choice))}."


def _functions(names: Sequence[str]) -> list[str]:
    return [f"MPI_{name.capitalize()}" for name in names]


def _left_out(communicators: int) -> Iterator[str]:
    if communicators > 0:
        said = f"{plural(communicators, 'communicator')} kept the MPI's own choices, "
        yield said + "because the tuner's memory was used up (--memory)."


def _table(choices: list[Choice]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in _COLUMNS:
        table.add_column(name, justify="right" if name in _RIGHT else "left", overflow="fold")
    members = defaultdict(set)
    for each in choices:
        members[each.communicator, each.ranks].add(each.members)
    for each in choices:
        of = f": {each.members}" if len(members[each.communicator, each.ranks]) > 1 else ""
        times = [f"{1e6 * t:.4g} µs" if t else "" for t in (each.default_s, each.chosen_s)]
        gain = f"{each.gain_s:.2g} s" if each.chosen_s else ""
        words = (f"{each.communicator} ({each.ranks}{of})", each.collective, shown_size(each.size), each.algorithm)
        table.add_row(*words, *times, str(each.calls), gain)
    return table
