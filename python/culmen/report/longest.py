"""The evaluation that still runs, and the one that ran longest."""

from __future__ import annotations

import time
from dataclasses import dataclass

from ..base.text import lasted
from ..store.table import STATUSES, Table
from .convergence import elapsed

_FEWEST = 2  # evaluations that a median needs


@dataclass(frozen=True)
class Running:
    """``begin_s``, ``end_s``: seconds since the study's start, without the pauses between its starts. ``end_s`` is the
    present time."""

    evaluation: int
    worker: int
    begin_s: float
    end_s: float

    @property
    def age_s(self) -> float:
        return self.end_s - self.begin_s


def oldest_running(table: Table) -> Running | None:
    """The evaluation that has run longest, while a master holds the study."""
    import numpy as np

    if not table.summary["owned"] or not table.summary.get("running"):
        return None
    evaluation, worker, since_s = table.summary["running"]
    passed, _ = elapsed(table)
    last = table.store.starts()[-1]
    known = np.flatnonzero((table.epoch == last["epoch"]) & ~np.isnan(passed))
    if len(known):
        begun_s = float(table.at_s[known[0]] - passed[known[0]])
    else:
        begun_s = last["started_s"] - (float(np.nanmax(passed)) if (~np.isnan(passed)).any() else 0.0)
    return Running(evaluation, worker, max(since_s - begun_s, 0.0), max(time.time() - begun_s, since_s - begun_s))


def about_running(table: Table) -> str:
    """A sentence as in `culmen status`; empty if no evaluation runs, or none for long."""
    running = oldest_running(table)
    if running is None:
        return ""
    return f"evaluation {running.evaluation}, for {lasted(running.age_s)}, on worker {running.worker}"


def about_longest(table: Table) -> str:
    """The duration of the longest ended evaluation, and the median; empty if there are too few."""
    import numpy as np

    ended = np.flatnonzero((table.status >= 0) & (table.duration_s > 0))
    if len(ended) < _FEWEST:
        return ""
    row = ended[np.argmax(table.duration_s[ended])]
    how = "" if table.succeeded[row] else f", {STATUSES[table.status[row]]}"
    return (
        f"evaluation {table.evaluation[row]}, {lasted(float(table.duration_s[row]))}, on worker {table.worker[row]}"
        f"{how} (median of all: {lasted(float(np.median(table.duration_s[ended])))})"
    )
