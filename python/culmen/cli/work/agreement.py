"""The end of a fit because its local searches agree, and how to continue."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ... import _core


def agreement_in(options: Mapping[str, Any]) -> float:
    """The option ``agreement`` of the optimizer ``lm``; its default if it is not given."""
    lm = next(entry for entry in _core.optimizer_catalogue() if entry["name"] == "lm")
    standard: float = next(option["default"] for option in lm["options"] if option["name"] == "agreement")
    return float(options.get("agreement", standard))


def more_searches(store: str | Path) -> str:
    """The command that continues a study that has ended because its searches agree."""
    return f"culmen resume {shlex.quote(str(store))} --agreement 0"
