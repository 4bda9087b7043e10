"""The end of a fit because its local searches agree or have all ended, and how to continue."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...store.opening import resume_command

ENDS = ("agreement", "searches")  # options of the optimizer "lm"
_FEWEST = 6.0  # repeats with which the default can end a study


def ends_of_searches(optimizer: str, options: Mapping[str, Any]) -> list[str]:
    """When local searches of the optimizer ``lm`` end a study."""
    if optimizer != "lm":
        return []
    agreement, searches = options.get("agreement"), options.get("searches")
    ends = [f"when {searches:g} local searches have ended"] if searches else []
    if agreement is None:
        return [*ends, f"when enough local searches, at least {_FEWEST:g}, have found the best point again"]
    return [*ends, f"when {agreement:g} local searches have found the best point again"] if agreement else ends


def end_no_later(options: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether a study that has converged with the options ``before`` has converged with these, too."""
    agreement, former = options.get("agreement"), before.get("agreement")
    agree = agreement == former or (agreement is not None and 0 < agreement <= (former or _FEWEST))
    searches, most = options.get("searches") or 0, before.get("searches") or 0
    return agree and (searches == most or 0 < searches <= (most or math.inf))


def new_ends(options: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    """Those that differ, as options of ``culmen resume``."""
    changed = [n for n in ENDS if n in options and options[n] != before.get(n)]
    return "".join(f" --{name} {options[name]:g}" for name in changed)


def more_searches(store: str | Path, configuration: dict[str, Any]) -> str:
    """The command that continues a study that its local searches have ended."""
    searches = " --searches 0" if configuration["optimizer"].get("searches") else ""
    return f"{resume_command(store, configuration)} --agreement 0{searches}"
