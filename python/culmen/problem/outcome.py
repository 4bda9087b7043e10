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

    status: str  #: "ok", or the kind of the failure
    value: float | None  #: the value; None if the evaluation failed
    values: dict[str, float]  #: with several objectives: the values of all objectives
    violation: float  #: amount by which the candidate violates constraints and limits; 0: no violation
    residuals: list[float]  #: residuals of a fit
    extras: dict[str, float]  #: extra values
    message: str  #: why the evaluation failed; empty if the evaluation succeeded
    duration_s: float  #: duration of the evaluation in seconds
    cost: float  #: the value as culmen minimizes it; infinite if the evaluation failed

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
        """Whether the evaluation succeeded."""
        return self.status == "ok"
