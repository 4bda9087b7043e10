"""How the value depends on the parameters, from the evaluations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..store.table import Table
from . import style
from .panels import Panels
from .scales import unit
from .style import Figure, counted, grouped
from .thinning import best_and_some

if TYPE_CHECKING:
    import numpy as np

_POINTS, _FEWEST_POINTS, _MOST_POINTS = 15_000, 300, 1500
_STRETCHES, _A_STRETCH = 40, 4
_FLOOR = {"color": style.BLACK, "width": 1.5, "dash": "dash"}
_MIDDLE = style.EARLY_TO_LATE[1][1]


def against_value(table: Table) -> Figure:
    """Every parameter against the first objective."""
    import numpy as np

    strips = {
        "failed": np.flatnonzero(table.failed),
        "violated": np.flatnonzero(table.succeeded & (table.violation > 0)),
    }
    panels = Panels(table, "parameters", "Parameters against the value", _ABOUT_PARAMETERS, strips)
    if below := [_STRIPS[label] for label, rows in strips.items() if len(rows)]:
        panels.figure.about += f" The marks below a panel are evaluations that {', or '.join(below)}."
    good = np.flatnonzero(table.feasible)
    limit = int(np.clip(_POINTS // max(len(panels.shown), 1), _FEWEST_POINTS, _MOST_POINTS))
    chosen = 0
    for panel, i in enumerate(panels.shown):
        own = good[table.active[good, i]]
        if len(own):
            kept = own[best_and_some(unit(table.parameters[i], table.x[own, i]), table.oriented[own, 0], limit)]
            chosen = max(chosen, len(own) - len(kept))
            kept = kept[np.argsort(table.told[kept], kind="stable")]
            panels.add(panel, kept, "evaluation", mode="markers", marker=_aged(table, kept))
        _add_best(panels, panel, i)
    panels.fill_strips({"failed": style.FAILED, "violated": style.INFEASIBLE})
    panels.explain("evaluation", mode="markers", marker={"size": 6, "color": _MIDDLE})
    panels.explain("best", mode="markers", marker=style.BEST)
    if chosen:
        panels.figure.notes.append(
            f"About {grouped(limit)} of {counted(len(good), 'evaluation')} in each panel: the best of all, the best of "
            "each interval of the axis, and every k-th of the others."
        )
    return panels.figure


_ABOUT_PARAMETERS = (
    "Successful evaluations; later ones are darker. The star is the best. Parameters are sorted by their rank "
    "correlation with the value."
)
_STRIPS = {"failed": "failed", "violated": "violated a constraint or a limit"}


def slices(table: Table) -> Figure:
    """Each parameter against the value, from the evaluations that are nearest to the best in all other parameters."""
    import numpy as np

    about = (
        f"Evaluations near the best. Each parameter's axis has {_STRETCHES} intervals, each with the "
        f"{_A_STRETCH} evaluations whose other parameters are closest to the best. Closer ones are darker. "
        "The line joins the lowest ones. No evaluation was made for this figure."
    )
    failed = np.flatnonzero(table.failed)
    if len(failed):
        about += " The marks below a panel are evaluations that failed, wherever they were."
    strips = {"failed": failed} if len(failed) else {}
    panels = Panels(table, "slices", "Slices around the best", about, strips)
    good = np.flatnonzero(table.feasible)
    away = _away_from_best(table, good)
    look: dict[str, Any] = {"size": 5, "line": {"width": 0.3, "color": style.BLACK}}
    for panel, i in enumerate(panels.shown):
        near, distance = _nearest_by_stretch(table, i, good, away(i))
        if len(near):
            order = np.argsort(-distance, kind="stable")
            near, closeness = near[order], -np.log10(np.maximum(distance[order], 1e-6))
            shade = {"color": closeness, "colorscale": style.EARLY_TO_LATE, "cmin": 0, "cmax": 3}
            panels.add(panel, near, "near the best", mode="markers", marker={**look, **shade})
            _add_floor(panels, panel, i, near)
        _add_best(panels, panel, i)
    panels.fill_strips({"failed": style.FAILED} if strips else {})
    panels.explain("near the best", mode="markers", marker={**look, "color": _MIDDLE})
    panels.explain("lowest", mode="lines", line=_FLOOR)
    panels.explain("best", mode="markers", marker=style.BEST)
    return panels.figure


def _away_from_best(table: Table, good: np.ndarray) -> Callable[[int], np.ndarray]:
    """Distances of the evaluations from the best in all parameters but one, as shares of the space's diagonal. If other
    parameters are active, the distance is the largest possible."""
    import numpy as np

    scaled = np.column_stack([unit(p, table.x[good, i]) for i, p in enumerate(table.parameters)])
    at = int(np.flatnonzero(good == table.best)[0])
    squares = (scaled - scaled[at]) ** 2
    for i, p in enumerate(table.parameters):
        if not p.ordered:
            squares[:, i] = scaled[:, i] != scaled[at, i]
    squares[table.active[good] != table.active[good[at]]] = 1
    total = squares.sum(axis=1)
    return lambda i: np.sqrt(np.maximum(total - squares[:, i], 0) / max(len(table.parameters) - 1, 1))


def _nearest_by_stretch(table: Table, i: int, good: np.ndarray, distance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    import numpy as np

    own = np.flatnonzero(table.active[good, i])
    stretch = np.floor(unit(table.parameters[i], table.x[good[own], i]) * (_STRETCHES - 1e-9))
    order = np.lexsort((distance[own], stretch))
    place = np.arange(len(order)) - np.searchsorted(stretch[order], stretch[order])  # within its interval
    chosen = own[order[place < _A_STRETCH]]
    return good[chosen], distance[chosen]


def _add_best(panels: Panels, panel: int, i: int) -> None:
    import numpy as np

    table = panels.table
    if table.best is not None and table.active[table.best, i]:
        panels.add(panel, np.array([table.best]), "best", mode="markers", marker=style.BEST)


def _add_floor(panels: Panels, panel: int, i: int, rows: np.ndarray) -> None:
    """The lowest evaluation of each of a few intervals."""
    import numpy as np

    table = panels.table
    if not table.parameters[i].ordered or not len(rows):
        return
    stretch = np.floor(unit(table.parameters[i], table.x[rows, i]) * (_STRETCHES - 1e-9))
    order = np.lexsort((table.oriented[rows, 0], stretch))
    _, first = np.unique(stretch[order], return_index=True)
    floor = rows[order[first]]
    floor = floor[np.argsort(table.x[floor, i], kind="stable")]
    panels.add(panel, floor, "lowest", mode="lines", line=_FLOOR)


def _aged(table: Table, rows: np.ndarray) -> dict[str, Any]:
    import numpy as np

    age = table.told[rows].astype(np.float32)
    return {"size": 4, "color": age, "colorscale": style.EARLY_TO_LATE, "cmin": 0, "cmax": max(len(table) - 1, 1)}
