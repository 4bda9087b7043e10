"""Parts that all pages of ``culmen bench`` share."""

import platform
import time
from collections.abc import Sequence
from typing import Any

from .. import _core
from ..report.page import text
from .sampling import Interval


def lead_of(command: str, *facts: str, here: bool = True) -> str:
    """HTML: the command, the version and the time. If ``here``, also the facts and this machine."""
    out = f"<p>{command}; {text(_core.build)}; as of {time.strftime('%Y-%m-%d %H:%M:%S %z')}.</p>"
    if not here:
        return out
    machine = f"{platform.node()}: {_core.usable_cpus()} CPUs, {platform.machine()}"
    return f"{out}<p>{text('; '.join([*facts, machine]))}.</p>"


def error_bars(intervals: Sequence[Interval]) -> dict[str, Any]:
    """Error bars in µs around the medians. Without an interval, there is no bar."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [(each.high - each.median) * 1e6 if each.exists else 0 for each in intervals],
        "arrayminus": [(each.median - each.low) * 1e6 if each.exists else 0 for each in intervals],
        "thickness": 1,
    }
