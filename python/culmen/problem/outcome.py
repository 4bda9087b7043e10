"""The outcome of one evaluation."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .goals import as_given, oriented

Own = TypeVar("Own", bound="Outcome")


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

    @classmethod
    def of(cls: type[Own], row: Mapping[str, Any], objectives: Sequence[tuple[str, str]], **more: Any) -> Own:
        """``row``: the outcome in the signs of a store."""
        ok = row["status"] == "ok"
        values = {name: oriented(v, direction) for (name, direction), v in zip(objectives, row["values"], strict=False)}
        return cls(
            status=row["status"],
            value=as_given(row["value"], objectives) if ok else None,
            values=values,
            violation=row["violation"],
            residuals=list(row["residuals"]),
            extras=row["extras"],
            message=row["message"],
            duration_s=row["duration_s"],
            cost=row["value"] if ok else math.inf,
            **more,
        )

    @property
    def ok(self) -> bool:
        return self.status == "ok"
