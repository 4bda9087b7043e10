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
    """The evaluations in a store as arrays, in the order in which the optimizer proposed them.

    It works while the study runs, and then returns the present state. 10⁶ evaluations take a second and, with ten
    parameters, 200 MB. Raises InputError if there is no store, StoreError if it is damaged.
    """
    return Evaluations(open_store(path, command))


class Evaluations(Table):
    """The evaluations of one store, in columns.

    ``parameters``, ``objectives``: their descriptions. ``x``: one row for each evaluation, with the optimizer's
    numbers. ``values``: one column for each objective, in the user's sign; NaN if the evaluation did not succeed.
    ``status``: indices into STATUSES, −1 without an outcome. ``told``: position in the order in which the optimizer was
    told, −1 if it was not. The other arrays have the names of ``columns``.
    """

    def plot(self) -> plotly.graph_objects.Figure:
        """Convergence: the values (all, or a fair selection) and the best so far, by evaluations."""
        import plotly.graph_objects as go

        return go.Figure(by_evaluations(self).plain())
