"""Values and the best so far, by evaluations and by time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..store.table import Table
from . import style
from .scales import value_axis, whole
from .style import Figure, axis, counted, grouped, plain_text
from .thinning import envelope, evenly

if TYPE_CHECKING:
    import numpy as np

_POINTS, _STEPS, _FAILURES = 3000, 3000, 1500
_PANELS, _FEW = 4, 200
_LONGEST = 30  # characters of an objective's name


def by_evaluations(table: Table) -> Figure:
    import numpy as np

    rows = table.order
    x = np.arange(1, len(rows) + 1, dtype=float)
    about = "Each evaluation in the order in which the optimizer got it, and the best value so far."
    return _figure(table, rows, x, "convergence", "Convergence by evaluations", about, "evaluations")


def by_time(table: Table) -> Figure:
    import numpy as np

    told = table.order
    rows = told[np.argsort(table.at_s[told], kind="stable")]
    seconds, starts = elapsed(table)
    scale, unit = time_unit(seconds[rows])
    about = "The same by time: when each evaluation was finished."
    if len(starts) > 1:
        about += f" The study ran {len(starts)} times (dotted lines); the pauses between the runs are left out."
    figure = _figure(
        table, rows, seconds[rows] / scale, "time", "Convergence by time", about, f"{unit} since the start"
    )
    figure.layout["shapes"] = [
        {"type": "line", "x0": s / scale, "x1": s / scale, "yref": "paper", "y0": 0, "y1": 1,
         "line": {"color": style.GREY, "dash": "dot", "width": 1}}
        for s in starts[1:200]
    ]  # fmt: skip
    return figure


def best_so_far(table: Table, rows: np.ndarray, objective: int = 0) -> np.ndarray:
    """The best value of the feasible evaluations so far, with the sign for minimization; infinite before the first
    one."""
    import numpy as np

    merit = np.where(table.feasible[rows], table.oriented[rows, objective], np.inf)
    lowest: np.ndarray = np.minimum.accumulate(merit)
    return lowest


def steps(x: np.ndarray, best: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """The corners of the curve of the best so far, and whether some were left out."""
    import numpy as np

    if not len(best) or not np.isfinite(best[-1]):
        return x[:0], best[:0], False
    with np.errstate(invalid="ignore"):
        falls = np.flatnonzero(np.isfinite(best) & np.concatenate([[True], best[1:] < best[:-1]]))
    kept = falls[evenly(len(falls), _STEPS)]
    kept = np.append(kept, len(best) - 1)
    return x[kept], best[kept], len(falls) > _STEPS


def elapsed(table: Table) -> tuple[np.ndarray, list[float]]:
    """Seconds from the study's first start to each arrival, and to each further start. The pauses before these starts
    are left out."""
    import numpy as np

    out = np.full(len(table), np.nan)
    passed, starts = 0.0, []
    for start in table.store.starts():
        mine = table.epoch == start["epoch"]
        if not mine.any():
            continue
        at = table.at_s[mine]
        begun = min(start["started_s"], float(at.min()))
        starts.append(passed)
        out[mine] = at - begun + passed
        passed += max(float(at.max()) - begun, 0.0)
    return out, starts


def time_unit(seconds: np.ndarray) -> tuple[float, str]:
    longest = float(seconds.max()) if len(seconds) else 0.0
    for scale, unit, least in ((86400.0, "days", 3), (3600.0, "hours", 3), (60.0, "minutes", 5)):
        if longest > least * scale:
            return scale, unit
    return 1.0, "seconds"


def _figure(table: Table, rows: np.ndarray, x: np.ndarray, key: str, title: str, about: str, x_title: str) -> Figure:
    panels = min(len(table.objectives), _PANELS)
    height = 360 + 180 * (panels - 1)
    figure = Figure(key, title, about, [], style.layout(height))
    if panels > 1:
        figure.layout["grid"] = {"rows": panels, "columns": 1, "pattern": "coupled", "ygap": 0.22}
        figure.layout["margin"] |= {"t": 56}
        figure.layout["legend"] |= {"y": 1 + 24 / (height - 111)}
    for k in range(panels):
        _add_panel(table, rows, x, figure, k)
    counts = whole(0, len(rows), 12) if x_title == "evaluations" else {}
    figure.layout["xaxis"] = axis(x_title, rangemode="tozero", exponentformat="none", separatethousands=True, **counts)
    _add_failures(table, rows, x, figure)
    if len(table.objectives) > panels:
        figure.notes.append(f"The first {panels} of {len(table.objectives)} objectives are shown.")
    return figure


def _add_panel(table: Table, rows: np.ndarray, x: np.ndarray, figure: Figure, k: int) -> None:
    import numpy as np

    objective, values = table.objectives[k], table.values[rows, k]
    number = "" if k == 0 else str(k + 1)
    scale, notes = value_axis(values, objective.maximize)
    title = plain_text(objective.name, _LONGEST) + (" (maximized)" if objective.maximize else "")
    several = len(table.objectives) > 1
    figure.layout[f"yaxis{number}"] = axis("" if several else title, **scale)
    if several:  # upright, long names would run into each other
        figure.layout.setdefault("annotations", []).append(
            {"text": title, "showarrow": False, "xref": "paper", "x": 0, "xanchor": "left", "yref": f"y{number} domain",
             "y": 1, "yanchor": "bottom"}
        )  # fmt: skip
    common = {"yaxis": f"y{number}", "type": "scatter", "showlegend": k == 0}
    feasible, infeasible = np.flatnonzero(table.feasible[rows]), np.flatnonzero(table.violation[rows] > 0)
    for name, own, marker in (
        ("evaluation", feasible, style.EVALUATION),
        ("constraint violated", infeasible, style.INFEASIBLE),
    ):
        if not len(own):
            continue
        kept = own[envelope(values[own], _POINTS)]
        if len(kept) < len(own):
            notes.append(
                f"{counted(len(kept), 'point')} of {grouped(len(own))} are drawn: the least and the greatest of each "
                "interval, and two between."
            )
        marker = {**marker, "size": marker["size"] + (3 if len(kept) < _FEW else 0)}
        figure.data.append(
            {**common, "name": name, "mode": "markers", "x": x[kept], "y": values[kept], "marker": marker}
        )
    step_x, best, left_out = steps(x, best_so_far(table, rows, k))
    if len(best):
        line: dict[str, Any] = {"color": style.BLACK, "width": 2.5, "shape": "hv"}
        figure.data.append(
            {**common, "name": "best so far", "mode": "lines", "x": step_x, "y": best * objective.sign, "line": line}
        )
    if left_out:
        notes.append(f"{grouped(_STEPS)} steps of the best so far are drawn.")
    figure.notes += [note if len(table.objectives) == 1 else f"{objective.name}: {note}" for note in notes]


def _add_failures(table: Table, rows: np.ndarray, x: np.ndarray, figure: Figure) -> None:
    import numpy as np

    failed = np.flatnonzero(table.failed[rows])
    if not len(failed):
        return
    kept = failed[evenly(len(failed), _FAILURES)]
    if len(kept) < len(failed):
        figure.notes.append(f"{grouped(len(kept))} of {counted(len(failed), 'failure')} are marked.")
    figure.data.append(
        {
            "type": "scatter", "name": "failed", "mode": "markers", "x": x[kept], "y": np.full(len(kept), 0.02),
            "yaxis": "y9", "marker": style.FAILED, "hovertemplate": "failed<extra></extra>",
        }
    )  # fmt: skip
    figure.layout["yaxis9"] = {"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True}
