"""A figure of small plots, one for each parameter, which share the axis of the value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..store.table import Table
from . import style
from .correlation import relevance
from .scales import height_of_labels, parameter_axis, value_axis
from .style import Figure, axis, plain_text, short_names
from .thinning import evenly

if TYPE_CHECKING:
    import numpy as np

_MOST, _COLUMNS = 24, 3
# pixels
_PLOT, _TITLE, _NARROWEST, _BETWEEN = 160, 52, 850, 36
_TOP, _BOTTOM, _LEFT, _RIGHT = 44, 6, 70, 20
_A_STRIP, _ABOVE_STRIP = 16, 4
_IN_STRIP, _LONGEST = 300, 28  # marks; characters of a name


class Panels:
    """``shown``: the parameters of the panels, by their numbers. Below each panel can be strips: rows of marks without
    a value."""

    def __init__(self, table: Table, key: str, title: str, about: str, strips: dict[str, np.ndarray]) -> None:
        """``strips``: the rows of the table in each strip, by its label."""
        self.table, self._strips = table, {label: rows for label, rows in strips.items() if len(rows)}
        self.shown = relevance(table)[:_MOST]
        self._names = short_names([table.parameters[i].name for i in self.shown], _LONGEST)
        self._columns = min(_COLUMNS, max(len(self.shown), 1))
        self._width = (_NARROWEST - _BETWEEN * (self._columns - 1)) // self._columns
        self.figure = Figure(key, title, about, [], style.layout())
        if len(self.shown) < len(table.parameters):
            self.figure.notes.append(
                f"{len(self.shown)} of {len(table.parameters)} parameters are shown, those with the strongest "
                "correlation with the value."
            )
        self._lay_out()

    def add(self, panel: int, rows: np.ndarray, name: str, **look: Any) -> None:
        """A trace of these evaluations."""
        x, y = self.table.x[rows, self.shown[panel]], self.table.values[rows, 0]
        self._draw(panel, _number(panel), name, x=x, y=y, **look)

    def explain(self, name: str, **look: Any) -> None:
        """An entry of the legend."""
        self.figure.data.append({"type": "scatter", "name": name, "x": [None], "y": [None], **look})

    def fill_strips(self, marks: dict[str, dict[str, Any]]) -> None:
        """``marks``: the markers, by the strip's label."""
        for panel, i in enumerate(self.shown):
            for place, (label, rows) in enumerate(self._strips.items()):
                x = _apart(self.table.x[rows[self.table.active[rows, i]], i])
                about = f"%{{x}}<extra>{label}</extra>"
                look = {"mode": "markers", "marker": marks[label], "hovertemplate": about}
                self._draw(panel, _strip(panel), label, x=x, y=[place] * len(x), **look)

    def _draw(self, panel: int, vertical: str, name: str, **look: Any) -> None:
        """``vertical``: the number of the vertical axis."""
        axes = {"xaxis": f"x{_number(panel)}", "yaxis": f"y{vertical}"}
        self.figure.data.append({"type": "scatter", "name": name, **axes, "showlegend": False, **look})

    def _lay_out(self) -> None:
        import numpy as np

        table, objective = self.table, self.table.objectives[0]
        drawn = np.concatenate([np.flatnonzero(table.feasible), *self._strips.values()]).astype(int)
        axes = [
            parameter_axis(table.parameters[i], table.x[drawn[table.active[drawn, i]], i], self._width)
            for i in self.shown
        ]
        strips = len(self._strips) * _A_STRIP + (_ABOVE_STRIP if self._strips else 0)
        count = max(1, math.ceil(len(self.shown) / self._columns))
        below = [
            strips
            + _TITLE
            + max(map(height_of_labels, axes[row * self._columns : (row + 1) * self._columns]), default=0)
            for row in range(count)
        ]
        height = count * _PLOT + sum(below)
        self.figure.layout |= {
            "height": height + _TOP + _BOTTOM,
            "margin": {"l": _LEFT, "r": _RIGHT, "t": _TOP, "b": _BOTTOM},
            "legend": {**self.figure.layout["legend"], "y": 1 + 8 / height},
        }
        scale, notes = value_axis(table.values[table.feasible, 0], objective.maximize)
        self.figure.notes += notes
        for panel, drawn_axis in enumerate(axes):
            row, column = divmod(panel, self._columns)
            top = 1 - (row * _PLOT + sum(below[:row])) / height
            bottom = top - _PLOT / height
            self._place(panel, drawn_axis, column, bottom, top, height)
            self.figure.layout[f"yaxis{_number(panel)}"] = axis(
                plain_text(objective.name, 18) if column == 0 else "",
                nticks=6,
                **scale,
                domain=[bottom, top],
                anchor=f"x{_number(panel)}",
                showticklabels=column == 0,
                **({"matches": "y"} if panel else {}),
            )

    def _place(self, panel: int, drawn: dict[str, Any], column: int, bottom: float, top: float, height: int) -> None:
        between = _BETWEEN / (_NARROWEST + _BETWEEN)
        width = (1 - between * (self._columns - 1)) / self._columns
        left = column * (width + between)
        self.figure.layout[f"xaxis{_number(panel)}"] = axis(
            self._names[panel],
            domain=[left, left + width],
            anchor=f"y{_strip(panel) if self._strips else _number(panel)}",
            **drawn,
            automargin=False,
        )
        if not self._strips:
            return
        last = len(self._strips) - 1
        strip_top = bottom - _ABOVE_STRIP / height
        self.figure.layout[f"yaxis{_strip(panel)}"] = axis(
            domain=[strip_top - (last + 1) * _A_STRIP / height, strip_top],
            anchor=f"x{_number(panel)}",
            range=[last + 0.5, -0.5],
            tickvals=list(range(last + 1)),
            ticktext=list(self._strips),
            tickfont={"size": style.SMALL},
            showticklabels=column == 0,
            ticks="",
            showgrid=False,
            fixedrange=True,
        )


def _apart(x: np.ndarray) -> np.ndarray:
    """A few hundred of the different numbers at most."""
    import numpy as np

    x = np.unique(x)
    thinned: np.ndarray = x[evenly(len(x), _IN_STRIP)]
    return thinned


def _number(panel: int) -> str:
    return "" if panel == 0 else str(panel + 1)


def _strip(panel: int) -> str:
    return str(_MOST + panel + 1)
