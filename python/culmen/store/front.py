"""The Pareto front of a study with several objectives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..problem.given import Value
from .table import Table

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Trade:
    """One candidate of a Pareto front."""

    evaluation: int
    params: dict[str, Value]
    values: dict[str, float]


def trades(table: Table) -> list[Trade]:
    """The front, as the store has it now."""
    names = [objective.name for objective in table.objectives]
    return [
        Trade(int(table.evaluation[row]), table.named(row), dict(zip(names, table.values[row].tolist(), strict=True)))
        for row in front_of(table).tolist()
    ]


def best_in(front: Sequence[Trade], objectives: Sequence[tuple[str, str]]) -> dict[str, Trade]:
    """The end of the front for each objective; of equal ones the first."""
    return {name: _end(front, name, way == "maximize") for name, way in objectives}


def _end(front: Sequence[Trade], name: str, maximize: bool) -> Trade:
    return (max if maximize else min)(front, key=lambda trade: trade.values[name])


def front_of(table: Table) -> np.ndarray:
    """Rows of the evaluations that no other one dominates."""
    import numpy as np

    rows = np.flatnonzero(table.feasible & (table.told >= 0))
    values = table.oriented[rows]
    order = np.lexsort(values.T[::-1])
    rows, values = rows[order], values[order]
    if values.shape[1] == 2 and len(rows):  # sorted by the first objective: the second must fall
        falls = np.concatenate([[True], values[1:, 1] < np.minimum.accumulate(values[:, 1])[:-1]])
        return np.sort(rows[falls])
    kept, front_values, size = [], np.empty_like(values), 0
    for k, point in enumerate(values):  # in lexical order: a later one never dominates an earlier one
        if not (front_values[:size] <= point).all(axis=1).any():
            front_values[size] = point
            kept.append(k)
            size += 1
    return np.sort(rows[kept])
