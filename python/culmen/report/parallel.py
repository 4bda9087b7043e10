"""Parallel coordinates (Inselberg, The Visual Computer 1 (1985) 69)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..store.table import Table
from . import style
from .correlation import relevance
from .scales import ends_of, unit, width_of
from .style import Figure, axis, counted, short_names
from .thinning import evenly

if TYPE_CHECKING:
    import numpy as np

_AXES, _BEST_SHARE, _MOST_BEST, _OTHERS, _FAILED = 12, 0.1, 60, 140, 60
_INACTIVE = -0.16  # its height, below all axes
_LONGEST_NAME, _TILT = 24, 40  # characters, degrees
# pixels
_HEIGHT, _NARROWEST, _TOP, _SIDE, _LINE, _BETWEEN = 300, 850, 64, 36, 18, 8


def parallel(table: Table) -> Figure:
    """One line for each evaluation, from parameter to parameter, and to its rank."""
    import numpy as np

    shown = relevance(table)[:_AXES]
    good = np.flatnonzero(table.feasible)
    good = good[np.argsort(table.oriented[good, 0], kind="stable")]
    best = good[: min(_MOST_BEST, math.ceil(_BEST_SHARE * len(good)))]
    others = good[len(best) :]
    others = others[evenly(len(others), _OTHERS)]
    figure = Figure("parallel", "Parallel coordinates", _ABOUT, [], style.layout())
    if len(shown) < len(table.parameters):
        figure.notes.append(
            f"{len(shown)} of {len(table.parameters)} parameters, those with the strongest correlation with the value."
        )
    figure.notes.append(
        f"Blue: the best {len(best)} of {counted(len(good), 'successful evaluation')}; grey: {len(others)} of the "
        "others, at equal distances of rank."
    )
    failed = np.flatnonzero(table.failed)
    if len(failed) > _FAILED:
        figure.notes.append(f"Red: {_FAILED} of {counted(len(failed), 'failed evaluation')}.")
    failed = failed[evenly(len(failed), _FAILED)]
    if len(failed):
        figure.about += " Evaluations that failed have no rank."
    rank = np.full(len(table), np.nan)
    rank[good] = 1 - np.arange(len(good)) / max(len(good) - 1, 1)
    inactive = bool((~table.active[np.concatenate([good, failed])][:, shown]).any())
    heights = [np.where(table.active[:, i], unit(table.parameters[i], table.x[:, i]), _INACTIVE) for i in shown]
    if inactive:
        figure.about += " Where a parameter is inactive, the line runs below its axis."
    groups = (
        ("others", others, {"color": "#b5b5b5", "width": 0.8, "dash": "dot"}),
        ("failed", failed, {"color": style.VERMILLION, "width": 0.8, "dash": "dash"}),
        ("best tenth", best[1:], {"color": style.BLUE, "width": 1}),
        ("the best", best[:1], {"color": style.BLACK, "width": 3.5}),
    )
    for name, rows, line in groups:
        if len(rows):
            figure.data.append(_lines([*(height[rows] for height in heights), rank[rows]], name, line))
    _label_axes(figure, table, shown, inactive)
    return figure


_ABOUT = (
    "Each line is one evaluation. It crosses each parameter's axis at its value, between the bounds. The last axis is "
    "its rank: the best is at the top."
)


def _lines(heights: list[np.ndarray], name: str, line: dict[str, Any]) -> dict[str, Any]:
    """One trace with all lines, with a gap between two lines."""
    import numpy as np

    rows = len(heights[0])
    y = np.column_stack([*heights, np.full(rows, np.nan)])
    x = np.tile(np.append(np.arange(float(len(heights))), np.nan), rows)
    return {"type": "scatter", "mode": "lines", "name": name, "x": x, "y": y.ravel(), "line": line, "hoverinfo": "skip"}


def _label_axes(figure: Figure, table: Table, shown: list[int], inactive: bool) -> None:
    names = [*short_names([table.parameters[i].name for i in shown], _LONGEST_NAME), "rank"]
    place = _NARROWEST / (len(names) - 0.4)  # of one axis
    ends = [_ends(table, i, int((place - _BETWEEN) / width_of("n"))) for i in shown] + [("worst", "best")]
    tilted = any(width_of(name) > place - _BETWEEN for name in names)
    below, left = _room_for(names, place) if tilted else (_LINE, _SIDE)
    left = max(left, width_of("inactive") + _BETWEEN) if inactive else left
    inactive_tick: dict[str, Any] = {
        "tickvals": [_INACTIVE],
        "ticktext": ["inactive"],
        "tickfont": {"size": style.SMALL},
    }
    bare: dict[str, Any] = {"showgrid": False, "showline": False, "ticks": "", "automargin": False}
    figure.layout |= {
        "height": _HEIGHT + _TOP + below + _BETWEEN,
        "margin": {"l": left, "r": _SIDE, "t": _TOP, "b": below + _BETWEEN},
        "legend": {**figure.layout["legend"], "y": 1 + 28 / _HEIGHT},
        "xaxis": axis(range=[-0.3, len(shown) + 0.3], showticklabels=False, **bare),
        "yaxis": axis(
            range=[_INACTIVE - 0.04 if inactive else -0.1, 1.02],
            **bare,
            **(inactive_tick if inactive else {"showticklabels": False}),
        ),
        "shapes": [_line_of_axis(k) for k in range(len(names))],
        "annotations": [
            *(_end(k, 1, high) for k, (_, high) in enumerate(ends)),
            *(_end(k, 0, low) for k, (low, _) in enumerate(ends)),
            *(_name(k, name, tilted) for k, name in enumerate(names)),
        ],
    }


def _line_of_axis(k: int) -> dict[str, Any]:
    look = {"color": "#777", "width": 1}
    return {"type": "line", "x0": k, "x1": k, "y0": 0, "y1": 1, "layer": "below", "line": look}


def _end(k: int, height: int, text: str) -> dict[str, Any]:
    place = {"yanchor": "bottom", "yshift": 2} if height else {"yanchor": "top", "yshift": -2}
    look = {"showarrow": False, "font": {"size": style.SMALL}, "bgcolor": "rgba(255,255,255,0.8)"}
    return {"x": k, "y": height, "text": text, **place, **look}


def _name(k: int, name: str, tilted: bool) -> dict[str, Any]:
    look = {"showarrow": False, "font": {"size": style.SMALL + 1}}
    tilt = {"textangle": -_TILT, "xanchor": "right"} if tilted else {}
    return {"x": k, "yref": "paper", "y": 0, "yanchor": "top", "text": name, **look, **tilt}


def _room_for(names: list[str], place: float) -> tuple[int, int]:
    """Pixels below the axes and at their left, for names that are tilted."""
    angle = math.radians(_TILT)
    widths = [width_of(name) * 1.1 for name in names]
    left = max(width * math.cos(angle) - (k + 0.3) * place for k, width in enumerate(widths))
    return math.ceil(max(widths) * math.sin(angle)) + _LINE, max(_SIDE, math.ceil(left) + _BETWEEN)


def _ends(table: Table, i: int, longest: int) -> tuple[str, str]:
    p = table.parameters[i]
    if p.choices:
        low, high = short_names([p.choices[0], p.choices[-1]], longest)
        return low, high
    if p.kind == "boolean":
        return "false", "true"
    least, greatest = ends_of(p, table.x[:, i])
    return f"{least:.4g}", f"{greatest:.4g}"
