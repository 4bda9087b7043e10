"""Figures of a profile over time."""

import numpy as np

from ..report.heat_map import heat_map
from ..report.style import BLUE, GREEN, GREY, ORANGE, SKY, VERMILLION, Figure, axis, layout
from .layout import KIND_NAMES
from .timeline import Common, phases_of

KIND_COLOURS = (BLUE, SKY, ORANGE, GREEN, VERMILLION, GREY)
_MOST_ROWS = 64
_TICKS = 10


def phases_figure(timeline: Common) -> Figure:
    """The mean share of each kind of function, against time."""
    mean, edges, phases = timeline.shares.mean(axis=0), timeline.edges, phases_of(timeline)
    centres = (edges[:-1] + edges[1:]) / 2
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": centres.tolist(),
            "y": mean[:, k].tolist(),
            "stackgroup": "kinds",
            "line": {"width": 0.5, "color": colour},
        }
        for (k, name), colour in zip(enumerate(KIND_NAMES.values()), KIND_COLOURS, strict=True)
        if mean[:, k].any()
    ]
    bounds = [{"type": "line", "x0": p.begin_s, "x1": p.begin_s, "yref": "paper", "y0": 0, "y1": 1} for p in phases[1:]]
    plain = layout(height=360, shapes=[{**line, "line": {"color": "#444", "dash": "dot"}} for line in bounds])
    plain |= {"xaxis": axis("seconds since MPI_Init"), "yaxis": axis("share of the time", range=[0, 1])}
    about = "The share of all ranks' time in MPI functions. Dotted lines divide the phases of the program."
    return Figure("phases", "Phases", about, data, plain)


def timeline_figure(timeline: Common) -> Figure:
    """Which rank is in MPI when."""
    shares, edges = timeline.shares.sum(axis=2), timeline.edges
    groups = np.array_split(np.arange(len(shares)), min(len(shares), _MOST_ROWS))
    values = [shares[group].mean(axis=0).tolist() for group in groups]
    names = [_from_to(timeline.ranks[group[0]], timeline.ranks[group[-1]]) for group in groups]
    said = [
        [f"rank {name}, {edges[k]:.4g} to {edges[k + 1]:.4g} s: {share:.0%} in MPI" for k, share in enumerate(row)]
        for name, row in zip(names, values, strict=True)
    ]
    columns = [f"{edge:.3g}" for edge in edges[:-1]]
    data, parts = heat_map(columns, names, values, said, {"title": {"text": "in MPI"}, "tickformat": ".0%"})
    for row in data:
        row["marker"] |= {"line": {"width": 0}, "cmin": 0, "cmax": 1}
    step = max(1, len(columns) // _TICKS)
    parts["xaxis"] |= {"tickvals": list(range(0, len(columns), step)), "ticktext": columns[::step]}
    parts["xaxis"]["title"], parts["yaxis"]["title"] = {"text": "seconds since MPI_Init"}, {"text": "rank"}
    if len(names) > _TICKS:
        rows = range(0, len(names), max(1, len(names) // _TICKS))
        parts["yaxis"] |= {"tickvals": list(rows), "ticktext": [names[k] for k in rows]}
    about = "For each rank, the share of MPI in its time. Ranks that are in MPI while others compute wait for them."
    return Figure("timeline", "Timeline", about, data, layout(height=min(200 + 18 * len(names), 900)) | parts)


def _from_to(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"
