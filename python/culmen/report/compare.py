"""A comparison of two studies: their results, their speed, and their different settings."""

from __future__ import annotations

import time

from ..base.text import lasted, per_second
from ..store.differences import Rows, settings_that_differ
from ..store.table import Table
from . import facts, style
from .convergence import best_so_far, elapsed, steps, time_unit
from .page import Section, page, place_of, table
from .scales import value_axis
from .style import Figure, axis, plain_text
from .timeline import totals

_LOOKS = ({"color": style.BLACK, "width": 2.5}, {"color": style.BLUE, "width": 2.5, "dash": "dash"})
_SAME = 1e-9  # relative: values this close are written with the same digits


def comparison(a: Table, b: Table) -> Rows:
    """Rows of (name, for the first study, for the second study)."""
    facts_of_both = zip(_facts_of(a), _facts_of(b), strict=True)
    rows = [(name, of_a, of_b) for (name, of_a), (_, of_b) in facts_of_both]
    if comparable(a, b):
        rows.append(("evaluations to reach the other's best", reached(a, b), reached(b, a)))
    return rows


def _facts_of(e: Table) -> list[tuple[str, str]]:
    total, objective = totals(e), e.objectives[0].name
    return [
        ("state", facts.state(e.summary)),
        ("best value" if objective == "value" else f"best {objective}", _best(e)),
        ("evaluations", str(len(e.order))),
        ("failed", str(int(e.failed[e.order].sum()))),
        ("time until the last evaluation", lasted(total.wall_s)),
        ("rate until then", per_second(len(e.order) / total.wall_s) if total.wall_s else ""),
        ("workers with results", str(total.workers)),
    ]


def comparable(a: Table, b: Table) -> bool:
    """Whether the values of the two studies can be compared."""
    return bool(a.objectives) and bool(b.objectives) and a.objectives[0].maximize == b.objectives[0].maximize


def reached(e: Table, other: Table) -> str:
    """The number of evaluations until ``e`` was as good as the other's best value of the first objective, apart from
    rounding."""
    import numpy as np

    if other.best is None or not other.feasible[other.best]:
        return "the other has none"
    lowest = best_so_far(e, e.order)
    best = other.oriented[other.best, 0]
    there = np.flatnonzero(lowest <= best + _SAME * abs(best))
    return str(int(there[0]) + 1) if len(there) else "not reached"


def differences(a: Table, b: Table) -> Rows:
    """Settings that differ: (name, in the first, in the second); "–": it is not set."""
    return settings_that_differ(a.configuration, b.configuration)


def compare_page(a: Table, b: Table) -> str:
    names = labels(a, b)
    figures = [_overlaid(a, b, names, by_time) for by_time in (False, True)]
    changed = differences(a, b)
    sections = [
        Section("results", "Results", table(comparison(a, b), ["", *names])),
        Section("convergence-all", "Convergence", "".join(f"<h3>{f.title}</h3>{place_of(f)}" for f in figures)),
        Section(
            "settings",
            "Settings that differ",
            table(changed, ["", *names]) if changed else "<p>The stores keep no setting that differs.</p>",
        ),
    ]
    lead = f"<p>Two culmen studies; as of {time.strftime('%Y-%m-%d %H:%M:%S %z')}.</p>"
    return page(f"{names[0]} and {names[1]}", lead, sections, figures)


def labels(a: Table, b: Table) -> tuple[str, str]:
    """The names of the files, with enough folders to distinguish them."""
    if a.path.name != b.path.name:
        return a.path.name, b.path.name
    return str(a.path), str(b.path)


def _best(e: Table) -> str:
    if e.best is None:
        return "none"
    violated = f"; violation {e.violation[e.best]:.4g}" if e.violation[e.best] > 0 else ""
    return f"{e.values[e.best, 0]:.10g} (evaluation {e.evaluation[e.best]}{violated})"


def _overlaid(a: Table, b: Table, names: tuple[str, str], by_time: bool) -> Figure:
    import numpy as np

    title = f"Best so far by {'time' if by_time else 'evaluations'}"
    figure = Figure(
        "time" if by_time else "evaluations",
        title,
        "The best value so far in each study.",
        [],
        style.layout(420),
    )
    longest = max((totals(e).wall_s for e in (a, b)), default=0.0)
    scale, unit = time_unit(np.array([longest]))
    everything = []
    for e, name, line in zip((a, b), names, _LOOKS, strict=True):
        rows = e.order
        x = np.arange(1, len(rows) + 1, dtype=float)
        if by_time:
            seconds, _ = elapsed(e)
            rows = rows[np.argsort(e.at_s[rows], kind="stable")]
            x = seconds[rows] / scale
        step_x, best, left_out = steps(x, best_so_far(e, rows))
        values = best * e.objectives[0].sign
        everything.append(values)
        figure.data.append({"type": "scatter", "mode": "lines", "name": plain_text(name), "x": step_x, "y": values,
                            "line": {**line, "shape": "hv"}})  # fmt: skip
        if left_out:
            figure.notes.append(f"{name}: not all steps are drawn.")
    shown, notes = value_axis(np.concatenate(everything), a.objectives[0].maximize)
    figure.notes += notes
    figure.layout["yaxis"] = axis(plain_text(a.objectives[0].name), **shown)
    figure.layout["xaxis"] = axis(f"{unit} since the start" if by_time else "evaluations", rangemode="tozero",
                                  exponentformat="none", separatethousands=True)  # fmt: skip
    return figure
