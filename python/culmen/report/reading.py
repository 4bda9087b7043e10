"""``culmen.read``: the evaluations in a store, for programs and notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..store.opening import open_store
from ..store.table import Table
from .convergence import by_evaluations

if TYPE_CHECKING:
    import plotly.graph_objects


def read(path: str | Path, command: str = "report") -> Evaluations:
    """Reads all evaluations of a store into arrays, in the order in which the optimizer proposed them.

    The study may run in another process. A million evaluations take about a second and, for ten parameters, 200 MB.

    Raises InputError if there is no store, and StoreError if the store is damaged.
    """
    return Evaluations(open_store(path, command))


class Evaluations(Table):
    """The evaluations of a store.

    - ``columns``: a dict of arrays. Its keys are the columns of ``culmen export``, without ``message`` and
      ``residuals``.
    - ``x``: array of numbers with one row per evaluation and one column per parameter. The number of a choice is its
      index in the list of choices, from 0.
    - ``values``: array with one row per evaluation and one column per objective. NaN: the evaluation did not succeed.
    - ``best``: index of the row of the best evaluation; None if no evaluation succeeded.
    - ``succeeded``, ``failed``: arrays of truth values, one per evaluation.
    - ``parameters``, ``objectives``: descriptions of the columns of ``x`` and ``values``.
    """

    def plot(self) -> plotly.graph_objects.Figure:
        """Returns the convergence as a plotly figure: the values and the best value so far."""
        import plotly.graph_objects as go

        return go.Figure(by_evaluations(self).plain())
