"""Figures of the result: the front of several objectives, the residuals of a fit."""

from __future__ import annotations

from ..store.front import front_of
from ..store.table import Table
from . import style
from .scales import value_axis, whole
from .style import Figure, axis, counted, grouped, plain_text
from .thinning import envelope, evenly

_POINTS, _FRONT, _RESIDUALS, _PAIRS = 3000, 1500, 4000, 3
_LONGEST = (24, 22, 12)  # characters of an objective's name, in one, two and three plots


def front(table: Table) -> Figure:
    """The first objective against each of the next ones."""
    import numpy as np

    members = front_of(table)
    good = np.flatnonzero(table.feasible)
    pairs = min(len(table.objectives) - 1, _PAIRS)
    figure = Figure(
        "front",
        "Pareto front",
        f"{counted(len(members), 'evaluation is', 'evaluations are')} on the front: none is better in one objective "
        "without being worse in another.",
        [],
        style.layout(420, grid={"rows": 1, "columns": pairs, "pattern": "independent"}),
    )
    other = good[envelope(table.oriented[good, 0], _POINTS)]
    shown = members[evenly(len(members), _FRONT)]
    for k in range(1, pairs + 1):
        number = "" if k == 1 else str(k)
        for rows, name, marker in (
            (other, "evaluation", {**style.EVALUATION, "color": style.GREY}),
            (shown, "on the front", {"symbol": "diamond", "size": 7, "color": style.BLUE}),
        ):
            figure.data.append(
                {"type": "scatter", "mode": "markers", "name": name, "x": table.values[rows, 0],
                 "y": table.values[rows, k], "marker": marker, "xaxis": f"x{number}", "yaxis": f"y{number}",
                 "showlegend": k == 1}
            )  # fmt: skip
        for letter, j in (("x", 0), ("y", k)):
            objective = table.objectives[j]
            scale, notes = value_axis(table.values[good, j], objective.maximize)
            direction = "maximized" if objective.maximize else "minimized"
            title = f"{plain_text(objective.name, _LONGEST[pairs - 1])} ({direction})"
            figure.layout[f"{letter}axis{number}"] = axis(title, **scale)
            figure.notes += [f"{objective.name}: {note}" for note in notes]
    if len(other) < len(good):
        figure.notes.append(f"{grouped(len(other))} of {grouped(len(good))} evaluations are drawn.")
    if len(shown) < len(members):
        figure.notes.append(f"{grouped(len(shown))} of {grouped(len(members))} on the front are drawn.")
    figure.notes = list(dict.fromkeys(figure.notes))
    return figure


def residuals(table: Table) -> Figure | None:
    """The residuals of the best evaluation against their index; None if there are none."""
    import numpy as np

    if table.best is None or not table.residuals[table.best]:
        return None
    values = np.array(table.store.outcomes(int(table.evaluation[table.best]), 1)[0]["residuals"])
    kept = envelope(values, _RESIDUALS)
    index = axis("index", **whole(0, len(values) - 1, 12))
    figure = Figure(
        "residuals",
        "Residuals of the best evaluation",
        f"The {counted(len(values), 'residual')} of evaluation {table.evaluation[table.best]}; the sum of their "
        f"squares is {float(values @ values):.10g}. If they are divided by the standard deviations of the data, "
        "most of them lie within ±1.",
        [{"type": "scatter", "mode": "markers", "name": "residual", "x": kept, "y": values[kept], "showlegend": False,
          "marker": {"symbol": "circle", "size": 6, "color": style.BLUE}}],
        style.layout(300, showlegend=False, xaxis=index, yaxis=axis("residual", zeroline=True)),
    )  # fmt: skip
    if len(kept) < len(values):
        figure.notes.append(
            f"{grouped(len(kept))} of {grouped(len(values))} are drawn, the least and greatest of each interval."
        )
    return figure
