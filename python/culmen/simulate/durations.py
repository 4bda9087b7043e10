"""The durations of simulated evaluations."""

from dataclasses import dataclass
from pathlib import Path

from .. import _core
from .._core import InputError
from ..store.opening import Opened
from ..store.table import Table

DISTRIBUTIONS = ("constant", "exponential", "lognormal")


@dataclass(frozen=True)
class Durations:
    distribution: str  # a word of SimulationPlan.distribution
    mean_s: float
    spread: float = 0.0
    measured_s: tuple[float, ...] = ()  # by evaluation; below 0: not known
    source: str = ""  # the store with the measured durations

    def put(self, plan: _core.SimulationPlan) -> None:
        plan.distribution, plan.mean_s, plan.spread = self.distribution, self.mean_s, self.spread
        plan.measured_s = list(self.measured_s)

    def __str__(self) -> str:
        spread = f", spread {self.spread:g}" if self.distribution == "lognormal" else ""
        if self.source:
            known = sum(s >= 0 for s in self.measured_s)
            return f"mean {self.mean_s:.4g} s, as measured in {self.source} ({known} evaluations)"
        if self.distribution == "constant":
            return f"each takes {self.mean_s:.4g} s"
        return f"mean {self.mean_s:.4g} s, {self.distribution}{spread}"


def given_durations(mean_s: float, distribution: str | None, spread: float | None) -> Durations:
    """Raises InputError for numbers that do not fit."""
    if not 0 <= mean_s < float("inf"):
        raise InputError(f"--duration must be at least 0 and finite, got {mean_s}")
    distribution = distribution or ("constant" if spread is None else "lognormal")
    if spread is not None and distribution != "lognormal":
        raise InputError(f"--spread is for --distribution lognormal, but the distribution is {distribution}")
    if spread is not None and not 0 <= spread < float("inf"):
        raise InputError(f"--spread must be at least 0 and finite, got {spread}")
    return Durations(distribution, mean_s, 0.5 if spread is None else spread)


def durations_of_store(opened: Opened) -> Durations:
    """The measured durations in the store. Raises InputError if there are none."""
    table = Table(opened)
    known = [float(s) if ended else -1.0 for s, ended in zip(table.duration_s, table.status >= 0, strict=True)]
    measured = [s for s in known if s >= 0]
    if not measured:
        raise InputError(f"{opened.path} has no finished evaluation; give --duration SECONDS")
    return Durations("measured", sum(measured) / len(measured), 0.0, tuple(known), str(opened.path))


def no_durations(store: Path) -> InputError:
    return InputError(
        f"the duration of an evaluation is not known, because there is no store {store}; give --duration SECONDS, or "
        "run the study first"
    )
