"""The choices of ``culmen tune app --direct``: one algorithm for each collective, number of ranks and size class.

The objective is the program's own time, or a number that it prints. Its runs are few and noisy. So each run changes
many choices at once, and says something about each of them. With one choice at a time, the same errors would need
several times as many runs (R. A. Fisher, The Design of Experiments, 1935, chapter VI).

Before the search, one run has the default everywhere. In the first runs of the search, each algorithm of each choice
occurs twice, the default among them, in random order (Latin hypercubes: McKay, Beckman and Conover, Technometrics 21
(1979)). After that, each run is drawn (Thompson, Biometrika 25 (1933)) from a model that is the sum of the choices'
main effects (additive Gaussian processes: Duvenaud and others, NIPS 2011). At the end, each choice is the algorithm
with the best main effect in all runs, and not that of the best single run. Fresh runs, in turns with the default, then
decide whether these choices are used.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...base.text import plural
from ...launch.mpi.collectives import DEFAULT, Collectives
from ...report.reading import Evaluations
from ..rules.made import one_for_all_sizes
from ..rules.tried import Expected
from .cells import Cell, is_of_all
from .writing import Choice, Settings

_EACH, _SEED = 2, 1
_LEAST_SUCCESSES, _PRIOR_RUNS = 2, 0.5
_LEAST_RUNS, _MOST_RUNS, _RUNS_PER_ALGORITHM = 10, 150, 3


def choices_of(cells: Sequence[Cell], known: Collectives, allowed: tuple[bool, bool]) -> list[Choice]:
    """Of the cells for which there is a choice. ``allowed``: see Collectives.safe_algorithms()."""
    out: list[Choice] = []
    for cell in cells:
        sizes = _sizes_of(cell)
        names = tuple(one.name for one in known.safe_algorithms(cell.collective, cell.ranks, *allowed))
        if sizes is not None and len(names) > 1:
            out.append(Choice(cell.collective, cell.ranks, *sizes, cell.share, names))
    return _joined(out, known)


def _joined(choices: Sequence[Choice], known: Collectives) -> list[Choice]:
    """If one rule holds for all sizes of a collective, these have one choice. The order is that of the shares."""
    out: dict[object, Choice] = {}
    for each in choices:
        whole = one_for_all_sizes(each.collective, known)
        key = each[:2] if whole else each
        same = out.get(key, each._replace(share=0.0))
        least, most = min(each.least, same.least), max(each.most, same.most)
        out[key] = each._replace(least=least, most=most, share=same.share + each.share)
    return sorted(out.values(), key=lambda each: -each.share)


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


def starts_of(choices: Sequence[Choice]) -> list[dict[str, str]]:
    """The settings of the first runs; the first of them are the default."""
    rng = random.Random(_SEED)  # noqa: S311 - an order
    out = [{each.name: DEFAULT for each in choices}]
    most = max(len(each.algorithms) for each in choices)
    for _ in range(_EACH):
        columns = [[each.algorithms[k % len(each.algorithms)] for k in range(most)] for each in choices]
        for column in columns:
            rng.shuffle(column)
        out += [dict(zip((each.name for each in choices), row, strict=True)) for row in zip(*columns, strict=True)]
    return out


def runs_for(choices: Sequence[Choice]) -> int:
    """A reasonable number of runs for the search."""
    others = sum(len(each.algorithms) - 1 for each in choices)
    return min(_MOST_RUNS, _LEAST_RUNS + _RUNS_PER_ALGORITHM * others)


def expected_calls(choices: Sequence[Choice], settings: Settings) -> dict[Expected, Choice]:
    """A call for each changed choice, with which its algorithm must run."""
    out = {}
    for each in choices:
        size = -(-each.least // 8) * 8  # of whole numbers of any type
        if settings[each.name] != DEFAULT and size <= each.most:
            out[Expected(each.collective, each.ranks, size, settings[each.name])] = each
    return out


def best_of(choices: Sequence[Choice], found: Evaluations, maximize: bool) -> dict[str, str]:
    """The settings with the best main effects: those of a ridge regression (A. Hoerl and R. Kennard, Technometrics 12
    (1970) 55) of the values, or of their logarithms if all are positive. The default stays if no other algorithm with
    two successful runs has a better effect. An algorithm that probably made a run fail is not used."""
    rows, blamed = found.feasible, _blamed(choices, found)
    values = found.values[rows, 0] * (-1 if maximize else 1)
    if len(values) and (values > 0).all() != (values < 0).all():
        values = np.sign(values) * np.log(np.abs(values))
    levels = [(each, name) for each in choices for name in each.algorithms]
    design = np.array([found.columns[each.name][rows] == name for each, name in levels], dtype=float).T
    effects = dict(zip(levels, _effects_of(design, values), strict=True))
    runs = dict(zip(levels, design.sum(axis=0), strict=True))
    usable = [key for key in levels if key[1] == DEFAULT or (runs[key] >= _LEAST_SUCCESSES and key not in blamed)]
    ranked = sorted(usable, key=lambda key: (effects[key], key[1] != DEFAULT))
    return {each.name: next(name for one, name in ranked if one == each) for each in choices}


def _blamed(choices: Sequence[Choice], found: Evaluations) -> set[tuple[Choice, str]]:
    """Few algorithms that together explain all failed runs: first the one with the largest share of failures. Each run
    has many algorithms, most of which have nothing to do with its failure."""
    told, failed = found.told >= 0, ~found.feasible & (found.told >= 0)
    used = {
        (each, name): np.array([value == name for value in found.columns[each.name]])
        for each in choices
        for name in each.algorithms
        if name != DEFAULT
    }
    blamed: set[tuple[Choice, str]] = set()
    while failed.any():
        shares = {key: (failed & rows).sum() / max(1, (told & rows).sum()) for key, rows in used.items()}
        worst = max(shares, key=lambda key: shares[key], default=None)
        if worst is None or not shares[worst]:
            break  # the program failed with the default alone
        blamed.add(worst)
        failed, told = failed & ~used[worst], told & ~used[worst]
    return blamed


def _effects_of(design: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Of each column of zeros and ones. A level with few runs is drawn to the mean, as if it had some runs more."""
    if not len(values):
        return np.zeros(design.shape[1])
    centred = design - design.mean(axis=0)
    matrix = centred.T @ centred + _PRIOR_RUNS * np.eye(design.shape[1])
    return np.asarray(np.linalg.solve(matrix, centred.T @ (values - values.mean())))


def left_out(choices: Sequence[Choice], found: Evaluations) -> Iterator[str]:
    """A sentence for each algorithm with which no run of the search succeeded."""
    for each in choices:
        column = found.columns[each.name]
        for algorithm in each.algorithms[1:]:
            with_it = np.array([value == algorithm for value in column]) & (found.told >= 0)
            runs = int(with_it.sum())
            if runs and not (with_it & found.feasible).any():
                yield f"Left out: {algorithm} of {each}: no run with it succeeded ({plural(runs, 'run')})."
