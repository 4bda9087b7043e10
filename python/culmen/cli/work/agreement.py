"""The end of a fit because its local searches agree or have all ended, and how to continue."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ... import _core
from ...store.opening import Opened, resume_command

ENDS = ("agreement", "searches")  # options of the optimizer "lm"
_OF_A_SEARCH = 30  # evaluations, for each parameter
_FEWEST = 6.0  # repeats with which the default can end a study


def ends_of_searches(optimizer: str, options: Mapping[str, Any]) -> list[str]:
    """When local searches of the optimizer ``lm`` end a study."""
    if optimizer != "lm":
        return []
    agreement, searches = options.get("agreement"), options.get("searches")
    ended = "1 local search has" if searches == 1 else f"{searches or 0:g} local searches have"
    ends = [f"when {ended} ended"] if searches else []
    if agreement is None:
        return [*ends, f"when enough local searches, at least {_FEWEST:g}, have found the best point again"]
    return [*ends, f"when {agreement:g} local searches have found the best point again"] if agreement else ends


def ends_without_limits(config: _core.StudyConfig) -> str:
    """When the study ends, if nothing but its local searches can end it. Otherwise empty."""
    has_limit = config.evaluations or config.stagnation or math.isfinite(config.target)
    if has_limit or math.isfinite(config.wall_time_s):
        return ""
    return ", or ".join(ends_of_searches(config.optimizer, config.optimizer_options))


def end_no_later(options: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether a study that has converged with the options ``before`` has converged with these, too."""
    agreement, former = options.get("agreement"), before.get("agreement")
    agree = agreement == former or (agreement is not None and 0 < agreement <= (former or _FEWEST))
    searches, most = options.get("searches") or 0, before.get("searches") or 0
    return agree and (searches == most or 0 < searches <= (most or math.inf))


def new_ends(options: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    """The options that differ, in the form of ``culmen resume``."""
    changed = [n for n in ENDS if n in options and options[n] != before.get(n)]
    return "".join(f" --{name} {options[name]:g}" for name in changed)


def more_searches(store: str | Path, configuration: dict[str, Any], told: int) -> str:
    """The command that continues a study which its local searches ended after ``told`` evaluations."""
    searches = " --searches 0" if configuration["optimizer"].get("searches") else ""
    one_more = told + _OF_A_SEARCH * (1 + len(configuration["space"]))
    limit = "" if configuration.get("stop") else f" --evaluations {max(2 * told, one_more)}"
    return f"{resume_command(store, configuration)} --agreement 0{searches}{limit}"


def searched_often(optimizer: str, reason: str, ended: Opened) -> bool:
    """Whether a study that ended for this reason made many searches, although one may be enough for its user. Opens the
    store only if this is necessary."""
    if optimizer != "lm" or reason not in ("converged", "evaluations"):
        return False
    return not ended.begun.configuration["optimizer"].get("searches")
