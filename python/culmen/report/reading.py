"""``culmen.read``: what a store holds, for programs and notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..store.opening import open_store
from ..store.table import Table
from .convergence import by_evaluations

if TYPE_CHECKING:
    import plotly.graph_objects


def read(path: str | Path, command: str = "report") -> Evaluations:
    """What a store holds, as arrays: one entry an evaluation that was asked, in the order of asking.

    Also while the study runs: then it is what was there at this moment. 10⁶ evaluations take a second and, with ten
    parameters, 200 MB. Raises InputError where there is no store, StoreError where it is damaged.
    """
    return Evaluations(open_store(path, command))


class Evaluations(Table):
    """Of one store, in columns.

    ``parameters``, ``objectives``: what they are called. ``x``: numbers as the optimizer has them, one row an
    evaluation. ``values``: one column an objective, in the user's own sign; NaN unless it succeeded. ``status``: codes
    of STATUSES, −1 for no outcome yet. ``told``: place in the order in which the optimizer heard of it, −1: it did not.
    The other arrays are called as in ``columns``.
    """

    def plot(self) -> plotly.graph_objects.Figure:
        """Convergence: every value (or a fair choice of them) and the best so far, by evaluations."""
        import plotly.graph_objects as go

        return go.Figure(by_evaluations(self).plain())
