"""The outcome of one evaluation."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """The outcome of one evaluation.

    ``status`` is "ok", or the reason why there are no values: "failed", "crashed", "timed out", "not finite", "wrong
    shape".
    """

    status: str
    value: float | None  # in the user's sign: if it is maximized, the greatest is best
    values: dict[str, float]  # for several objectives; else empty
    violation: float  # of constraints and limits; 0: feasible
    residuals: list[float]  # empty if the evaluator returns no residuals
    extras: dict[str, float]
    message: str  # why it failed; empty if ok
    duration_s: float
    cost: float  # the value as it is minimized; infinite if not ok

    @property
    def ok(self) -> bool:
        return self.status == "ok"
