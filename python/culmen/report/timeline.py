"""The workers over time: computing, waiting, failing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..store.table import Table
from . import style
from .convergence import elapsed, time_unit
from .longest import oldest_running
from .style import Figure, axis, counted

if TYPE_CHECKING:
    import numpy as np

_ROWS, _BINS, _LEAST_BINS, _CELLS = 48, 400, 60, 12_000
_HEIGHT, _LEAST_SEEN = 0.84, 0.06


@dataclass(frozen=True)
class Shares:
    """For each worker and interval of time, the shares of the interval with successful evaluations, with failed ones,
    and with the oldest evaluation that still runs."""

    edges_s: np.ndarray
    workers: np.ndarray  # their numbers
    computed: np.ndarray
    failed: np.ndarray
    running: np.ndarray


@dataclass(frozen=True)
class Totals:
    """Seconds of all workers together."""

    workers: int
    wall_s: float
    computed_s: float
    failed_s: float
    running_s: float = 0.0  # of the oldest evaluation that still runs

    @property
    def waited_s(self) -> float:
        return max(0.0, self.workers * self.wall_s - self.computed_s - self.failed_s - self.running_s)


def totals(table: Table) -> Totals:
    import numpy as np

    end, duration = _intervals(table)
    done = ~np.isnan(end)
    failed = table.failed & done
    wall = float(end[done].max()) if done.any() else 0.0
    workers = set(table.worker[done].tolist())
    running = oldest_running(table)
    if running:
        wall = max(wall, running.end_s)
        workers.add(running.worker)
    return Totals(
        len(workers),
        wall,
        float(duration[done & ~failed].sum()),
        float(duration[failed].sum()),
        running.age_s if running else 0.0,
    )


def timeline(table: Table) -> Figure:
    """One row for each worker; the filled height is the share of time in which it computed."""
    import numpy as np

    shares = occupation(table)
    scale, unit = time_unit(shares.edges_s)
    figure = Figure(
        "timeline",
        "Workers over time",
        "One row for each worker. Filled: computing; hatched: evaluations that failed; crossed: the oldest evaluation "
        "that still runs; empty: waiting, or no worker. "
        "The filled height is the share of that interval of time. Failures are always drawn high enough to see "
        "them.",
        [],
        style.layout(130 + max(3, len(shares.workers)) * (16 if len(shares.workers) > 12 else 26)),
    )
    seen = np.where(shares.failed > 0, np.maximum(shares.failed, _LEAST_SEEN), 0)
    kinds = (
        ("computed", shares.computed, None, style.SKY, ""),
        ("failed", shares.computed + seen, shares.computed, style.VERMILLION, "/"),
        ("still running", shares.computed + seen + shares.running, shares.computed + seen, style.ORANGE, "x"),
    )
    for name, top, bottom, colour, shape in kinds:
        if bottom is not None and not (top > bottom).any():
            continue
        x, y = _outline(shares.edges_s / scale, top, bottom)
        pattern = {"shape": shape, "fgcolor": style.BLACK, "bgcolor": colour, "size": 5}
        figure.data.append(
            {
                "type": "scatter", "mode": "lines", "name": name, "x": x, "y": y, "fill": "toself", "hoverinfo": "skip",
                "line": {"width": 0.4, "color": style.BLACK}, "fillcolor": colour,
                **({"fillpattern": pattern} if shape else {}),
            }
        )  # fmt: skip
    figure.layout["xaxis"] = axis(f"{unit} since the start", rangemode="tozero")
    every = max(1, len(shares.workers) // 24)
    figure.layout["yaxis"] = axis(
        "worker",
        tickvals=[k + _HEIGHT / 2 for k in range(0, len(shares.workers), every)],
        ticktext=[str(w) for w in shares.workers[::every]],
        range=[len(shares.workers) + 0.1, -0.2],
        showgrid=False,
    )
    known = totals(table).workers
    if known > len(shares.workers):
        figure.notes.append(f"The first {len(shares.workers)} of {counted(known, 'worker')} are shown.")
    if len(shares.edges_s) > 1:
        figure.notes.append(
            f"An interval is {_short(shares.edges_s[1] - shares.edges_s[0])}; workers get new numbers at "
            "each start of the study."
        )
    return figure


def occupation(table: Table) -> Shares:
    import numpy as np

    end, duration = _intervals(table)
    done = np.flatnonzero(~np.isnan(end))
    running = oldest_running(table)
    late = [running] if running else []
    workers = np.unique(table.worker[done])
    if running:  # it is always drawn
        workers = np.concatenate([[running.worker], workers[workers != running.worker]])
    workers = np.sort(workers[:_ROWS])
    done = done[np.isin(table.worker[done], workers)]
    bins = int(np.clip(_CELLS // max(len(workers), 1), _LEAST_BINS, _BINS))
    last = max([float(end[done].max()) if len(done) else 1.0, *(r.end_s for r in late)])
    edges = np.linspace(0, max(last, 1e-9), bins + 1)
    row = np.searchsorted(workers, table.worker[done])
    begin = np.maximum(end[done] - duration[done], 0)
    failed = table.failed[done]
    return Shares(
        edges,
        workers,
        _shares(row[~failed], begin[~failed], end[done][~failed], edges, len(workers)),
        _shares(row[failed], begin[failed], end[done][failed], edges, len(workers)),
        _shares(
            np.searchsorted(workers, [r.worker for r in late]),
            np.array([r.begin_s for r in late]),
            np.array([r.end_s for r in late]),
            edges,
            len(workers),
        ),
    )


def _intervals(table: Table) -> tuple[np.ndarray, np.ndarray]:
    import numpy as np

    end, _ = elapsed(table)
    return end, np.nan_to_num(np.maximum(table.duration_s, 0))


def _shares(row: np.ndarray, begin: np.ndarray, end: np.ndarray, edges: np.ndarray, rows: int) -> np.ndarray:
    """From the sums of min(t, end) − min(t, begin) over all intervals, at every edge t."""
    import numpy as np

    out = np.zeros((rows, len(edges) - 1))
    width = edges[1] - edges[0]
    for k in range(rows):
        mine = row == k
        busy = _covered(end[mine], edges) - _covered(begin[mine], edges)
        out[k] = np.clip(np.diff(-busy) / width, 0, 1)
    return out


def _covered(moments: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """At each edge t: the sum of max(t − m, 0) over the moments."""
    import numpy as np

    ordered = np.sort(moments)
    before = np.searchsorted(ordered, edges, side="right")
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    covered: np.ndarray = before * edges - sums[before]
    return covered


def _outline(edges: np.ndarray, top: np.ndarray, bottom: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Polygons around each run of intervals that are not empty, separated by NaN; rows grow downwards."""
    import numpy as np

    xs: list[np.ndarray] = []
    ys: list[np.ndarray] = []
    gap = np.full(1, np.nan)
    for k, heights in enumerate(np.minimum(top, 1)):
        floor = np.zeros_like(heights) if bottom is None else np.minimum(bottom[k], 1 - _LEAST_SEEN)
        filled = heights - floor > 1e-4
        runs = np.flatnonzero(np.diff(np.concatenate([[0], filled.astype(int), [0]]))).reshape(-1, 2)
        for begin, end in runs:
            corners = np.repeat(edges[begin : end + 1], 2)[1:-1]
            upper, lower = np.repeat(heights[begin:end], 2), np.repeat(floor[begin:end], 2)
            xs += [corners, corners[::-1], corners[:1], gap]
            outline = np.concatenate([upper, lower[::-1], upper[:1]])
            ys += [k + _HEIGHT * (1 - outline), gap]
    empty = np.zeros(0)
    return (np.concatenate(xs) if xs else empty), (np.concatenate(ys) if ys else empty)


def _short(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds < 120 else f"{seconds / 60:.3g} min"
