"""Times of jobs, as Slurm writes them."""

import math
import re

from ..._core import InputError

_UNBOUNDED = ("infinite", "UNLIMITED", "INVALID", "n/a", "NOT_SET", "Partition_Limit", "")


def seconds_of(text: str) -> float | None:
    """Of `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes` and
    `days-hours:minutes:seconds`. None: unbounded. Raises ValueError."""
    if text.strip() in _UNBOUNDED:
        return None
    found = re.fullmatch(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?", text.strip())
    if not found:
        raise ValueError(text)
    days, first, second, third = (int(word) if word else 0 for word in found.groups())
    if found[1] is not None:
        return ((days * 24 + first) * 60 + second) * 60 + third
    if found[4] is not None:
        return (first * 60 + second) * 60 + third
    return first * 60 + second


def time_of(text: str, option: str = "--time") -> float:
    """Raises InputError if the text is not a time, or 0."""
    try:
        seconds = seconds_of(text)
    except ValueError:
        seconds = 0
    if not seconds:
        raise InputError(
            f"{option} {text}: it must be minutes or hours:minutes:seconds, as for sbatch, such as 30 or 1:30:00"
        )
    return seconds


def shown_time(seconds: float) -> str:
    """`1-02:03:00` or `02:03:00`: for sbatch, up to the next minute."""
    minutes = max(1, math.ceil(seconds / 60))
    days, minutes = divmod(minutes, 24 * 60)
    return (f"{days}-" if days else "") + f"{minutes // 60:02}:{minutes % 60:02}:00"
