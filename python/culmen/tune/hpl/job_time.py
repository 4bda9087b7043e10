"""The time that a tuning of HPL still needs, so that a job gets enough of it."""

import json
from pathlib import Path

from ..._core import CulmenError
from ...store.opening import open_store
from ..command.job_time import BUILDS_S, seconds_in
from .options import Options
from .plan import CHECK_SHARE, COMPARISON_SHARE, SEARCH_SHARE, Known
from .runs import BY_CHANCE, CHECK, FOUND, KNOWN, RANDOM, SEARCH

_FIRST_SHARE = 1 - SEARCH_SHARE - CHECK_SHARE - COMPARISON_SHARE


def rest_s(folder: Path, options: Options) -> float:
    """About how long the rest takes, if it has the speed of the first runs. The comparison counts as a whole, because
    it starts again if its settings change."""
    known, budget_s = _known(folder), 60 * options.minutes
    first_s = 0.0 if known else _FIRST_SHARE * budget_s + (BUILDS_S if options.build else 0.0)
    search_s = known.plan.search_s if known else SEARCH_SHARE * budget_s
    by_chance_s = (search_s + CHECK_SHARE * budget_s) if options.compare_random else 0.0
    return (
        first_s
        + _left_s(folder, FOUND, SEARCH, search_s)
        + (0.0 if _is_finished(folder / CHECK) else CHECK_SHARE * budget_s)
        + _left_s(folder, BY_CHANCE, RANDOM, by_chance_s)
        + max(COMPARISON_SHARE * budget_s, _comparison_s(known, options))
        + (_verified_s(known) if options.verify and known else 0.0)
    )


def _known(folder: Path) -> Known | None:
    try:
        return Known.of(json.loads((folder / KNOWN).read_text(encoding="utf-8")))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _left_s(folder: Path, result: str, store: str, whole_s: float) -> float:
    """``result``: the file that a search writes at its end."""
    return 0.0 if (folder / result).exists() else max(whole_s - seconds_in(folder / store), 0.0)


def _is_finished(store: Path) -> bool:
    try:
        return store.exists() and bool(open_store(store).summary["finished"])
    except CulmenError:
        return False  # the job is just writing it


def _verified_s(known: Known) -> float:
    """Of at most two runs."""
    return 2 * max(curve.time_s(known.plan.memory_n) + known.overhead_s for curve in known.curves.values())


def _comparison_s(known: Known | None, options: Options) -> float:
    """With the option --size, the comparison can take longer than its share of the time."""
    if known is None:
        return 0.0
    times_s = [curve.time_s(known.plan.final_n) + known.overhead_s for curve in known.curves.values()]
    return options.rounds * (sum(times_s) + options.compare_random * max(times_s))
