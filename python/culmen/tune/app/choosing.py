"""The choices of ``culmen tune app --direct``: one algorithm for each collective, number of ranks and size class.

The objective is the program's own time, or a number that it prints. Its runs are few and noisy. So each run changes many
choices at once, and says something about each of them. The model of the search is the sum of the choices' main effects
(additive Gaussian processes: Duvenaud and others, NIPS 2011), on which each next run is drawn (Thompson, Biometrika 25
(1933)). An experiment with one factor at a time needs several times as many runs for the same errors (R. A. Fisher, The
Design of Experiments, 1935, chapter VI). The recommended choices have the best mean of the model, not the best single
run. Fresh runs, in turns with the default, then decide whether they are used.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...base.text import plural
from ...bench.words import shown_size
from ...launch.mpi.collectives import DEFAULT, Collectives
from ...report.reading import Evaluations
from ..rules.made import rules_of
from ..rules.file import Rules
from ..rules.tried import Expected
from .cells import Cell, is_of_all

_LEAST_RUNS, _MOST_RUNS, _RUNS_PER_ALGORITHM = 10, 150, 3
Settings = Mapping[str, Any]


class Choice(NamedTuple):
    """``least``, ``most``: bytes of the messages, both inclusive, as ``culmen bench collectives`` counts them.
    ``algorithms``: begins with DEFAULT."""

    collective: str
    ranks: int
    least: int
    most: int
    share: float
    algorithms: tuple[str, ...]

    @property
    def name(self) -> str:
        """Of the parameter."""
        return f"{self.collective}_{self.ranks}_ranks" + (f"_{self.least}_bytes" if self.most else "")

    def __str__(self) -> str:
        sizes = "" if not self.most else f" and {shown_size(self.least)} to {shown_size(self.most)}"
        return f"{self.collective} with {self.ranks} ranks{sizes}"


def choices_of(cells: Sequence[Cell], known: Collectives, allowed: tuple[bool, bool]) -> list[Choice]:
    """Of the cells for which there is a choice. ``allowed``: see Collectives.safe_algorithms()."""
    out = []
    for cell in cells:
        sizes = _sizes_of(cell)
        names = tuple(one.name for one in known.safe_algorithms(cell.collective, cell.ranks, *allowed))
        if sizes is not None and len(names) > 1:
            out.append(Choice(cell.collective, cell.ranks, *sizes, cell.share, names))
    return out


def _sizes_of(cell: Cell) -> tuple[int, int] | None:
    """Both ends of the size class. None: calls that move nothing, or less than a byte for each rank."""
    if cell.size_class == 0:
        return (0, 0) if cell.collective == "barrier" else None
    parts = cell.ranks if is_of_all(cell) else 1
    least, most = -(-(2 ** (cell.size_class - 1)) // parts), (2**cell.size_class - 1) // parts
    return (least, most) if 0 < least <= most else None


def parameters_of(choices: Sequence[Choice]) -> dict[str, dict[str, Any]]:
    """Tables of a study file."""
    return {each.name: {"choices": list(each.algorithms), "initial": DEFAULT} for each in choices}


def runs_for(choices: Sequence[Choice]) -> int:
    """A reasonable number of runs for the search."""
    others = sum(len(each.algorithms) - 1 for each in choices)
    return min(_MOST_RUNS, _LEAST_RUNS + _RUNS_PER_ALGORITHM * others)


def rules_for(choices: Sequence[Choice], settings: Settings, known: Collectives) -> Rules:
    """The rules that make these choices, and no others."""
    chosen: dict[str, dict[int, list[tuple[int, str]]]] = defaultdict(lambda: defaultdict(list))
    for each in sorted(choices):
        name = settings[each.name]
        chosen[each.collective][each.ranks] += [(size, name) for size in dict.fromkeys((each.least, each.most))]
    return rules_of(chosen, known)


def expected_calls(choices: Sequence[Choice], settings: Settings) -> dict[Expected, Choice]:
    """A call for each changed choice, with which its algorithm must run."""
    out = {}
    for each in choices:
        size = -(-each.least // 8) * 8  # of whole numbers of any type
        if settings[each.name] != DEFAULT and size <= each.most:
            out[Expected(each.collective, each.ranks, size, settings[each.name])] = each
    return out


def left_out(choices: Sequence[Choice], found: Evaluations) -> Iterator[str]:
    """A sentence for each algorithm with which no run of the search succeeded."""
    for each in choices:
        column = found.columns[each.name]
        for algorithm in each.algorithms[1:]:
            with_it = np.array([value == algorithm for value in column]) & (found.told >= 0)
            runs = int(with_it.sum())
            if runs and not (with_it & found.feasible).any():
                yield f"Left out: {algorithm} of {each}: no run with it succeeded ({plural(runs, 'run')})."
