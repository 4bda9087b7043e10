"""A map of coloured cells. The bundled part of plotly has no such trace, so each row is one of bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .style import axis

_COLOURS = [[0, "#ffffff"], [1, "#0072b2"]]


def heat_map(
    columns: Sequence[str],
    rows: Sequence[str],
    values: Sequence[Sequence[float | None]],
    hover: Sequence[Sequence[str]],
    scale: dict[str, Any],
    texts: Sequence[Sequence[str]] | None = None,
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The traces, and the parts of a layout; the caller adds the titles of the axes.

    ``columns``, ``rows``: names; ``values``, ``hover`` and ``texts`` have a row for each. ``None``: an empty cell.
    ``scale``: of the colour bar, in plotly's words. ``texts``: in the cells.
    """
    known = [value for row in values for value in row if value is not None]
    low, high = min([0.0, *known]), max([*known, 1e-300])
    data = []
    for number, row in enumerate(values):
        marker: dict[str, Any] = {
            "color": [0.0 if value is None else value for value in row],
            "colorscale": _COLOURS,
            "cmin": low,
            "cmax": high,
            "line": {"width": 1, "color": "#e4e4e4"},
        }
        if number == 0:
            marker |= {"showscale": True, "colorbar": {"thickness": 14, **scale}}
        data.append(
            {
                "type": "bar",
                "x": list(range(len(columns))),
                "y": [0 if value is None else 1 for value in row],
                "base": [number - 0.5] * len(row),
                "width": [1] * len(row),
                "marker": marker,
                "hovertext": list(hover[number]),
                "hoverinfo": "text",
                "text": list(texts[number]) if texts else [""] * len(row),
                "textposition": "inside",
                "insidetextanchor": "middle",
                "textangle": 0,
                "constraintext": "both",
                "showlegend": False,
            }
        )
    ends: dict[str, Any] = {"zeroline": False, "showgrid": False}
    layout = {
        "barmode": "overlay",
        "bargap": 0,
        "showlegend": False,
        "xaxis": axis(tickvals=list(range(len(columns))), ticktext=list(columns), **ends),
        "yaxis": axis(tickvals=list(range(len(rows))), ticktext=list(rows), **ends),
    }
    return data, layout
