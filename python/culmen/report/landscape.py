"""How the value depends on the parameters, from the evaluations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..store.table import Table
from . import style
from .correlation import relevance
from .scales import parameter_axis, unit, value_axis
from .style import Figure, axis, counted, grouped, plain_text
from .thinning import best_and_some, evenly

if TYPE_CHECKING:
    import numpy as np

_PANELS, _COLUMNS, _PANEL_HEIGHT = 24, 3, 250
_POINTS, _FEWEST_POINTS, _MOST_POINTS = 15_000, 300, 1500
_STRETCHES, _A_STRETCH = 40, 4
_BEST_LINES, _OTHER_LINES, _AXES = 60, 140, 20


def against_value(table: Table) -> Figure:
    """Every parameter against the first objective."""
    import numpy as np

    shown, figure = _panels(table, "parameters", "Parameters against the value", _ABOUT_PARAMETERS)
    good = np.flatnonzero(table.feasible)
    limit = int(np.clip(_POINTS // max(len(shown), 1), _FEWEST_POINTS, _MOST_POINTS))
    chosen = 0
    for panel, i in enumerate(shown):
        own = good[table.active[good, i]]
        if len(own):
            kept = own[best_and_some(unit(table.parameters[i], table.x[own, i]), table.oriented[own, 0], limit)]
            chosen = max(chosen, len(own) - len(kept))
            kept = kept[np.argsort(table.told[kept], kind="stable")]
            _add(figure, panel, table, i, kept, _aged(table, kept), "evaluation")
        _add_best(figure, panel, table, i)
    if chosen:
        figure.notes.append(
            f"About {grouped(limit)} of {counted(len(good), 'evaluation')} in each panel: the best of all, the best of "
            "each interval of the axis, and every k-th of the others."
        )
    return figure


_ABOUT_PARAMETERS = (
    "Successful evaluations; later ones are darker. The star is the best. Parameters are sorted by their rank "
    "correlation with the value."
)


def slices(table: Table) -> Figure:
    """Each parameter against the value, from the evaluations that are nearest to the best in all other parameters."""
    import numpy as np

    about = (
        f"Evaluations near the best. Each parameter's axis has {_STRETCHES} intervals, each with the "
        f"{_A_STRETCH} evaluations whose other parameters are closest to the best. Closer ones are darker. "
        "The line joins the lowest ones. No evaluation was made for this figure."
    )
    shown, figure = _panels(table, "slices", "Slices around the best", about)
    good = np.flatnonzero(table.feasible)
    away = _away_from_best(table, good)
    for panel, i in enumerate(shown):
        near, distance = _nearest_by_stretch(table, i, good, away(i))
        if len(near):
            order = np.argsort(-distance, kind="stable")
            near, closeness = near[order], -np.log10(np.maximum(distance[order], 1e-6))
            marker = {"size": 5, "color": closeness, "colorscale": style.EARLY_TO_LATE, "cmin": 0, "cmax": 3,
                      "line": {"width": 0.3, "color": style.BLACK}}  # fmt: skip
            _add(figure, panel, table, i, near, marker, "near the best")
            _add_floor(figure, panel, table, i, near)
        _add_best(figure, panel, table, i)
    return figure


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


def parallel(table: Table) -> Figure:
    """Parallel coordinates (Inselberg, The Visual Computer 1 (1985) 69)."""
    import numpy as np

    shown = relevance(table)[:_AXES]
    good = np.flatnonzero(table.feasible)
    good = good[np.argsort(table.oriented[good, 0], kind="stable")]
    best, others = good[1 : 1 + _BEST_LINES], good[1 + _BEST_LINES :]
    others = others[evenly(len(others), _OTHER_LINES)]
    figure = Figure(
        "parallel",
        "Parallel coordinates",
        "Each line is one evaluation. It crosses each parameter's axis at its value, between the bounds. The last "
        "axis is its rank: the best is at the top.",
        [],
        style.layout(440),
    )
    if len(shown) < len(table.parameters):
        figure.notes.append(
            f"{len(shown)} of {len(table.parameters)} parameters, those with the strongest correlation with the value."
        )
    figure.notes.append(
        f"The best {len(best) + 1 if len(good) else 0} of {counted(len(good), 'successful evaluation')} and "
        f"{len(others)} of the others, at equal distances of rank."
    )
    rank = np.empty(len(table))
    rank[good] = 1 - np.arange(len(good)) / max(len(good) - 1, 1)
    heights = [unit(table.parameters[i], table.x[:, i]) for i in shown]
    for i, height in zip(shown, heights, strict=True):
        height[~table.active[:, i]] = np.nan
    groups = (
        (f"{len(others)} others", others, {"color": "#b5b5b5", "width": 0.8, "dash": "dot"}),
        (f"best {len(best) + 1}", best, {"color": style.BLUE, "width": 1}),
        ("the best", good[:1], {"color": style.BLACK, "width": 3.5}),
    )
    for name, rows, line in groups:
        if len(rows):
            y = np.column_stack([*(height[rows] for height in heights), rank[rows], np.full(len(rows), np.nan)])
            x = np.tile(np.append(np.arange(len(shown) + 1.0), np.nan), len(rows))
            figure.data.append(
                {"type": "scatter", "mode": "lines", "name": name, "x": x, "y": y.ravel(), "line": line,
                 "hoverinfo": "skip"}
            )  # fmt: skip
    _label_axes(figure, table, shown)
    return figure


def _label_axes(figure: Figure, table: Table, shown: list[int]) -> None:
    names = [plain_text(table.parameters[i].name, 16) for i in shown]
    ends = [_ends(table, i) for i in shown]
    figure.layout["margin"] = {"l": 30, "r": 30, "t": 60, "b": 60}  # the buttons are above the axes' ends
    figure.layout["xaxis"] = axis(
        tickvals=list(range(len(shown) + 1)),
        ticktext=[f"{name}<br>{low}" for name, (low, _) in zip(names, ends, strict=True)] + ["rank<br>worst"],
        range=[-0.3, len(shown) + 0.3],
        gridcolor="#777",
    )
    figure.layout["yaxis"] = axis(range=[-0.03, 1.03], showticklabels=False, showgrid=False, ticks="")
    tops = [high for _, high in ends] + ["best"]
    figure.layout["annotations"] = [
        {"x": k, "y": 1.03, "text": top, "showarrow": False, "yanchor": "bottom", "font": {"size": 11}}
        for k, top in enumerate(tops)
    ]
    figure.layout["legend"] = {"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0}


def _ends(table: Table, i: int) -> tuple[str, str]:
    p = table.parameters[i]
    if p.choices:
        return plain_text(p.choices[0], 12), plain_text(p.choices[-1], 12)
    if p.kind == "boolean":
        return "false", "true"
    ends = (p.lower, p.upper) if math.isfinite(p.upper - p.lower) else (table.x[:, i].min(), table.x[:, i].max())
    return f"{ends[0]:.4g}", f"{ends[1]:.4g}"


def _panels(table: Table, key: str, title: str, about: str) -> tuple[list[int], Figure]:
    """The shown parameters, and the figure with a pair of axes for each."""
    import numpy as np

    shown = relevance(table)[:_PANELS]
    columns = min(_COLUMNS, max(len(shown), 1))
    rows = max(1, math.ceil(len(shown) / columns))
    figure = Figure(key, title, about, [], style.layout(90 + _PANEL_HEIGHT * rows))
    figure.layout["grid"] = {"rows": rows, "columns": columns, "pattern": "independent", "xgap": 0.12,
                             "ygap": 0.32}  # fmt: skip
    figure.layout["margin"] = {"l": 60, "r": 20, "t": 40, "b": 50}
    objective = table.objectives[0]
    good = np.flatnonzero(table.feasible)
    scale, notes = value_axis(table.values[good, 0], objective.maximize)
    figure.notes += notes
    for panel, i in enumerate(shown):
        number = "" if panel == 0 else str(panel + 1)
        p = table.parameters[i]
        figure.layout[f"xaxis{number}"] = axis(plain_text(p.name, 24), nticks=6, **parameter_axis(p))
        figure.layout[f"yaxis{number}"] = axis(
            plain_text(objective.name, 16) if panel % columns == 0 else "", nticks=6, **scale
        )
    if len(shown) < len(table.parameters):
        figure.notes.append(f"{len(shown)} of {len(table.parameters)} parameters are shown.")
    return shown, figure


def _add(figure: Figure, panel: int, table: Table, i: int, rows: np.ndarray, marker: dict[str, Any], name: str) -> None:
    figure.data.append({**_trace(panel, name), "mode": "markers", "x": table.x[rows, i], "y": table.values[rows, 0],
                        "marker": marker})  # fmt: skip


def _add_best(figure: Figure, panel: int, table: Table, i: int) -> None:
    import numpy as np

    if table.best is not None and table.active[table.best, i]:
        _add(figure, panel, table, i, np.array([table.best]), style.BEST, "best")


def _add_floor(figure: Figure, panel: int, table: Table, i: int, rows: np.ndarray) -> None:
    """The lowest evaluation of each of a few intervals."""
    import numpy as np

    if not table.parameters[i].ordered or not len(rows):
        return
    stretch = np.floor(unit(table.parameters[i], table.x[rows, i]) * (_STRETCHES - 1e-9))
    order = np.lexsort((table.oriented[rows, 0], stretch))
    _, first = np.unique(stretch[order], return_index=True)
    floor = rows[order[first]]
    floor = floor[np.argsort(table.x[floor, i], kind="stable")]
    line = {"color": style.BLACK, "width": 1.5, "dash": "dash"}
    figure.data.append({**_trace(panel, "lowest"), "mode": "lines", "x": table.x[floor, i], "y": table.values[floor, 0],
                        "line": line})  # fmt: skip


def _trace(panel: int, name: str) -> dict[str, Any]:
    number = "" if panel == 0 else str(panel + 1)
    return {"type": "scatter", "name": name, "xaxis": f"x{number}", "yaxis": f"y{number}", "showlegend": panel == 0}


def _aged(table: Table, rows: np.ndarray) -> dict[str, Any]:
    import numpy as np

    age = table.told[rows].astype(np.float32)
    return {"size": 4, "color": age, "colorscale": style.EARLY_TO_LATE, "cmin": 0, "cmax": max(len(table) - 1, 1)}
