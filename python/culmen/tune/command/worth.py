"""Whether a tuning was worth its time."""

from dataclasses import dataclass

from ..._core import InputError
from ...bench.verdict import Verdict


@dataclass(frozen=True)
class Use:
    """How long a program will still run in total, in hours or as a number of runs. Both are None if the user does not
    say. Raises InputError if both are given."""

    hours: float | None = None
    runs: int | None = None

    def __post_init__(self) -> None:
        if self.hours is not None and self.runs is not None:
            raise InputError("--use-hours and --use-runs say the same; give one of them")

    def __bool__(self) -> bool:
        return self.hours is not None or self.runs is not None

    def hours_of(self, run_s: float) -> float | None:
        """Hours in total with the present settings, if one run takes ``run_s``. None if unknown."""
        return self.hours if self.runs is None else self.runs * run_s / 3600


@dataclass(frozen=True)
class Worth:
    """``spent_h``: hours of tuning. ``back_h``: hours that the program must run with the new settings until they have
    saved this time. None if they save nothing, or if the saved time is unknown."""

    spent_h: float
    back_h: float | None
    cost: float | None  # of the tuning, in the currency of the price
    use_h: float | None = None  # hours of use that the user expects, with the present settings
    saves_h: tuple[float, float, float] | None = None  # hours saved of ``use_h``: low, mean, high

    @classmethod
    def of(
        cls,
        verdict: Verdict | None,
        maximize: bool,
        spent_s: float,
        cores: int,
        price: float | None,
        counts_time: bool = True,
        use_h: float | None = None,
    ) -> "Worth":
        """``verdict``: None if the new settings are not used. ``counts_time``: the value is a time or a rate; with
        other values, the saved time is unknown."""
        spent_h = spent_s / 3600
        back_h = saves_h = None
        if counts_time and verdict is not None and verdict.is_better and verdict.relative:
            # After t hours, the old settings would have needed t · (1 + g) for a rate, or t / (1 - g) for a time.
            saved = verdict.gain if maximize else verdict.gain / (1 - verdict.gain)
            back_h = spent_h / saved
            if use_h is not None:
                low, mean, high = (use_h * _less(gain, maximize) for gain in (verdict.low, verdict.gain, verdict.high))
                saves_h = low, mean, high
        return cls(spent_h, back_h, None if price is None else spent_h * cores * price, use_h, saves_h)


def _less(gain: float, maximize: bool) -> float:
    """The share of time that a gain saves."""
    return gain / (1 + gain) if maximize else gain
