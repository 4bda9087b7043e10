"""The outcome of one evaluation."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """What one evaluation came to. ``status`` is "ok", or why there are no figures: "failed", "crashed", "timed out",
    "not finite", "wrong shape"."""

    status: str
    value: float | None  # as the study gives it: of what is maximized, the greatest is best
    values: dict[str, float]  # several objectives; else empty
    violation: float  # of constraints and limits; 0: feasible
    residuals: list[float]  # empty unless the evaluator returns residuals
    extras: dict[str, float]
    message: str  # unless ok: what happened
    duration_s: float
    cost: float  # the value as it is minimized; infinite unless ok

    @property
    def ok(self) -> bool:
        return self.status == "ok"
