"""Rank correlations (Spearman) of parameters, objectives and extra values over the successful evaluations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..store.table import Table
from .style import grouped
from .thinning import evenly

if TYPE_CHECKING:
    import numpy as np

_MOST = 15
_SAMPLE = 20_000


@dataclass(frozen=True)
class Correlations:
    names: list[str]
    matrix: np.ndarray  # NaN if one of the two is constant
    notes: list[str]


def correlations(table: Table) -> Correlations:
    """Correlations over all successful evaluations, or over every k-th if there are more than 20 000. Categories have
    no order, so they are left out."""
    import numpy as np

    columns, notes = {}, []
    rows = _sample(table)
    unordered = [p.name for p in table.parameters if not p.ordered]
    if unordered:
        named = f"{', '.join(unordered[:10])}{' …' if len(unordered) > 10 else ''}"
        notes.append(f"Without the categorical parameter{'s' if len(unordered) > 1 else ''} {named}.")
    for i in relevance(table):
        if table.parameters[i].ordered:
            columns[table.parameters[i].name] = np.where(table.active[rows, i], table.x[rows, i], np.nan)
    for k, objective in enumerate(table.objectives):
        columns[objective.name] = table.values[rows, k]
    columns |= {name: figures[rows] for name, figures in table.extras.items() if name not in columns}
    if len(columns) > _MOST:
        notes.append(f"{_MOST} of {len(columns)} columns are shown.")
        names = [o.name for o in table.objectives]
        columns = {name: columns[name] for name in [*names, *(n for n in columns if n not in names)][:_MOST]}
    matrix = np.array([[_spearman(a, b) for b in columns.values()] for a in columns.values()])
    if len(rows) < int(table.feasible.sum()):
        notes.append(
            f"From {grouped(len(rows))} of {grouped(int(table.feasible.sum()))} evaluations, at equal distances."
        )
    return Correlations(list(columns), matrix.reshape(len(columns), len(columns)), notes)


def relevance(table: Table) -> list[int]:
    """The indices of the parameters, sorted by their rank correlation with the first objective."""
    import numpy as np

    rows = _sample(table)
    value = table.oriented[rows, 0]

    def how_much(i: int) -> float:
        found = _spearman(np.where(table.active[rows, i], table.x[rows, i], np.nan), value)
        return 0.0 if np.isnan(found) else abs(found)

    if len(table.parameters) <= 1 or len(rows) < 3:
        return list(range(len(table.parameters)))
    return sorted(range(len(table.parameters)), key=lambda i: -how_much(i))


def _sample(table: Table) -> np.ndarray:
    import numpy as np

    good = np.flatnonzero(table.feasible)
    chosen: np.ndarray = good[evenly(len(good), _SAMPLE)]
    return chosen


def _spearman(a: np.ndarray, b: np.ndarray) -> float:
    import numpy as np

    both = ~(np.isnan(a) | np.isnan(b))
    ranks = [_ranks(column[both]) for column in (a, b)]
    deviations = [r - r.mean() for r in ranks] if both.sum() > 2 else []
    norms = [float(np.sqrt((d**2).sum())) for d in deviations]
    return float((deviations[0] * deviations[1]).sum() / (norms[0] * norms[1])) if norms and all(norms) else np.nan


def _ranks(values: np.ndarray) -> np.ndarray:
    """Equal values share the mean of their ranks."""
    import numpy as np

    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    mean: np.ndarray = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return mean
