"""The time for which workers waited for each other, the reason, and the advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import _core
from ...base.text import lasted
from ...store.opening import Opened
from ...store.table import STATUSES, Table

if TYPE_CHECKING:
    from ...run.result import Result

# A sentence appears only above all three: duration of the run, mean duration of an evaluation, share of waiting.
_LONG_S, _SLOW_S, _MUCH = 10.0, 0.01, 0.25
_MAIN = 0.5  # the share of the waiting that one evaluation explains, so that it is the reason
_SAID = 3  # numbers of evaluations in a sentence


def waited(result: Result, here: int, ended: Opened | None) -> str | None:
    """A sentence if the workers waited for each other for much of the time, and the user can avoid this. ``ended``: the
    store after the run."""
    there_s = _there_s(result)
    if not result.generational or result.workers < 2 or there_s < result.workers * _LONG_S:
        return None
    if result.evaluated_s < here * _SLOW_S:
        return None
    share = 1 - result.evaluated_s / there_s
    if share < _MUCH:
        return None
    if why := ended and _one_reason(result, Table(ended)):
        return f"{share:.0%} of their time; {why}"
    if not any(e["name"] == result.optimizer and e["asynchronous"] for e in _core.optimizer_catalogue()):
        return None
    return f"{share:.0%} of their time; with generational = false they do not wait, but candidates depend on timing"


def _there_s(result: Result) -> float:
    """The sum of the times for which the workers were present. Workers can join late."""
    return float(result.present_s) if result.present_s > 0 else result.workers * result.wall_s


def _one_reason(result: Result, table: Table) -> str:
    """Empty if no evaluation explains most of the waiting."""
    import numpy as np

    waited_s = _there_s(result) - result.evaluated_s
    explains_s = _MAIN * waited_s / (result.workers - 1)
    here = np.flatnonzero((table.status >= 0) & (table.epoch == table.store.starts()[-1]["epoch"]))
    durations = np.nan_to_num(table.duration_s[here])
    unfinished_s = result.evaluated_s - float(durations.sum())
    if unfinished_s >= explains_s and (unfinished := _unfinished(table)):
        return (
            f"{unfinished} still ran when the run ended, after up to {lasted(unfinished_s)}; if such an "
            "evaluation hangs, time_limit_s ends it"
        )
    if not len(here) or durations.max() < explains_s:
        return ""
    row = here[np.argmax(durations)]
    longest = f"evaluation {table.evaluation[row]} took {lasted(float(durations.max()))}"
    typical = f"the median is {lasted(float(np.median(durations)))}"
    if STATUSES[table.status[row]] == "timed out":
        return f"{longest}, its time limit ({typical}); a lower time_limit_s makes this wait shorter"
    return f"{longest} ({typical}), and the others waited for it; time_limit_s ends evaluations that take too long"


def _unfinished(table: Table) -> str:
    """The evaluations without a result, as text. Empty if all have a result: then some evaluations were repeated in
    vain."""
    open_now = table.evaluation[(table.status < 0) & ~table.cancelled].tolist()
    if not open_now:
        return ""
    named = ", ".join(map(str, open_now[:_SAID])) + (", …" if len(open_now) > _SAID else "")
    return f"evaluation{'s' if len(open_now) > 1 else ''} {named}"
