"""The errors of a fit as values."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from statistics import NormalDist
from typing import Any

from .. import _core
from .._core import CulmenError, InputError
from ..base.text import plural, rounded, shown, shown_error
from ..problem.given import Value
from .text import as_text

ONE_SIGMA = 2 * NormalDist().cdf(1) - 1
AT_BOUND, AT_CONSTRAINT = "at bound", "at constraint"


class NothingFreeError(InputError):
    """There is no parameter that could have an error."""


class NotFiniteError(CulmenError):
    """Numbers are too large or too small to compute errors with them."""


_ON_WALL = 1e-9  # of the range, and of the bound


@dataclass(frozen=True)
class Interval:
    """An interval of the profile likelihood. None: this side has no end, and the note gives the reason."""

    lower: float | None
    upper: float | None
    lower_note: str = ""
    upper_note: str = ""


@dataclass(frozen=True)
class ParameterError:
    """The error of one parameter."""

    name: str
    value: Value
    error: float | None = None
    scaled: float | None = None  # error × S
    interval: Interval | None = None
    note: str = ""
    sandwich: float | None = None  # with a robust loss

    def shown_value(self, digits: int | None = None, alone: bool = False) -> str:
        """Rounded to the least of its errors, or with this number of significant digits. ``alone``: only ``error`` is
        shown beside it."""
        return rounded(self.value, [self.error] if alone else [self.error, self.scaled, self.sandwich], digits)


@dataclass(frozen=True)
class Errors:
    """Errors (uncertainties) of the parameters of a fit. ``print(errors)`` shows them as a table.

    ``errors["tau"]`` has these attributes:

    - ``value``: the best value of the parameter.
    - ``error``: the error of the parameter. If the parameter moves by this error and the other parameters are fitted
      again, χ² rises by 1, or the value rises by ``up``. None: there is no error.
    - ``scaled``: the error times ``scale``.
    - ``sandwich``: with a robust loss, the error that is also correct if residuals contain outliers.
    - ``interval``: the interval of the profile likelihood, with ``lower`` and ``upper``; None if it was not computed.
    - ``note``: why there is no error, or another remark.
    """

    parameters: list[ParameterError]  #: the errors in the order of the parameters
    free: list[str]  #: names of the parameters that have an error
    covariance: list[list[float]]  #: covariance matrix of the parameters in ``free``
    correlation: list[list[float]]  #: correlation matrix of the parameters in ``free``
    value: float  #: the best value; for residuals without a robust loss: χ², the sum of their squares
    up: float  #: how much the value rises if a parameter moves by its error
    residuals: int  #: number of residuals; 0 if the study returns a value
    dof: int  #: degrees of freedom: number of residuals minus the number of parameters that the data determine
    distance: float  #: estimate of how far ``value`` is above the minimum
    evaluations: int  #: number of evaluations for these errors
    evaluation: int | None = None  #: number of the best evaluation
    confidence: float | None = None  #: confidence level of the intervals; None if there are no intervals
    notes: list[str] = field(default_factory=list)  #: remarks, as sentences
    lower_minimum: dict[str, Value] | None = None  #: a better candidate, if the profiles found one
    maximized: bool = False  #: True if the study maximizes the value
    loss: str = "linear"  #: loss of the residuals
    f_scale: float = 1.0  #: scale of a robust loss
    derived: list[ParameterError] = field(default_factory=list)  #: derived values, with propagated errors

    def __getitem__(self, name: str) -> ParameterError:
        for parameter in self._all:
            if parameter.name == name:
                return parameter
        raise KeyError(name)

    @property
    def scale(self) -> float | None:
        """The factor S = √(χ²/dof). If the standard deviations of the residuals are unknown, multiply the errors by S.
        With a robust loss, ``scale`` is None."""
        return math.sqrt(self.value / self.dof) if self._of_squares and self.dof > 0 else None

    @property
    def robust(self) -> bool:
        """True if the loss of the residuals is not their sum of squares."""
        return self.loss != "linear"

    @property
    def _of_squares(self) -> bool:
        """True if the value is χ²."""
        return bool(self.residuals) and not self.robust

    @property
    def _all(self) -> list[ParameterError]:
        return [*self.parameters, *self.derived]

    def __str__(self) -> str:
        return as_text(self)

    def as_rows(self, digits: int | None = None) -> tuple[list[list[str]], list[str]]:
        """One row for each parameter, and the headings. ``digits``: significant digits, instead of rounding values to
        their errors."""
        profiled = self.confidence is not None and not self.lower_minimum
        headings = ["parameter", "best value", self.column]
        headings += ["± sandwich" if self.robust else "± × S"] if self.residuals else []
        headings += [f"profile, {self.confidence:.3g}"] if profiled else []
        rows = []
        for p in self._all:
            row = [p.name, p.shown_value(digits), shown_error(p.error, digits)]
            if self.residuals:
                row.append(shown_error(p.sandwich if self.robust else p.scaled, digits))
            if profiled:
                row.append(_shown_interval(p.value, p.interval, digits) if p.interval else "")
            rows.append([*row, p.note])
        return (rows, [*headings, ""]) if any(p.note for p in self._all) else ([row[:-1] for row in rows], headings)

    @property
    def column(self) -> str:
        """The heading of the errors in a table."""
        return "± (Δχ² = 1)" if self._of_squares else f"± (Δ = {self.up:g})"

    @property
    def lines(self) -> list[str]:
        """The scale of the errors, and remarks."""
        return self.sentences()

    def sentences(self, digits: int | None = None) -> list[str]:
        """``lines`` with this number of significant digits."""
        return [*self._scale_lines(digits), *self._profile_lines(), *(f"Note: {note}." for note in self.notes)]

    def _scale_lines(self, digits: int | None) -> list[str]:
        further = f"culmen made {plural(self.evaluations, 'more evaluation')} for them."
        residuals = plural(self.residuals, "residual")
        if not self.residuals:
            by = (
                f"falls by {self.up:g} over one error (use 0.5 for log L"
                if self.maximized
                else f"rises by {self.up:g} over one error (use 1 for a χ², 0.5 for -log L"
            )
            return [f"Errors: the value {by}). {further}"]
        if self.robust:
            value = shown(self.value, digits or 6)
            return [
                f"Errors: the value rises by 1 over one error (loss {self.loss}, f_scale = {self.f_scale:g}). "
                f"{further}",
                f"value = {value}, {residuals}, {self._shown_dof}. "
                + (
                    "Sandwich errors (`culmen errors` shows them) are correct for outliers and for unknown standard "
                    "deviations."
                    if self.dof
                    else "With dof = 0, there are no sandwich errors."
                ),
            ]
        counted = f"χ² = {shown(self.value, digits or 6)}, {residuals}, {self._shown_dof}"
        if self.scale is None:
            return [f"Errors for Δχ² = 1. {further} {counted}."]
        ratio, scale = (shown(number, digits or 4) for number in (self.value / self.dof, self.scale))
        return [
            "Errors for Δχ² = 1. They are correct if the residuals are in units of their standard deviations. "
            f"{further}",
            f"{counted}, χ²/dof = {ratio}. If the standard deviations are unknown, "
            f"multiply the errors by S = √(χ²/dof) = {scale}.",
        ]

    @property
    def _shown_dof(self) -> str:
        """With bounds reached, how it is counted."""
        if not any(p.note.startswith(AT_BOUND) for p in self.parameters):
            return f"dof = {self.dof}"
        return f"dof = {self.dof} (residuals minus fitted parameters, without parameters at their bounds)"

    def _profile_lines(self) -> list[str]:
        if self.confidence is None or self.lower_minimum:
            return []
        delta = self.up * Wanted(True, self.confidence).reach ** 2
        way = "smaller" if self.maximized else "larger"
        what = "χ²" if self._of_squares else "the value"
        without = " The intervals are not multiplied by S." if self.scale is not None else ""
        return [
            f"At the ends of a profile interval, {what} is {way} by {delta:.4g}, with the other parameters fitted "
            f"again.{without}"
        ]

    def as_table(self) -> dict[str, Any]:
        """A table for JSON; ``from_table`` makes the errors again."""
        return {**asdict(self), "scale": self.scale}

    @classmethod
    def from_table(cls, table: dict[str, Any]) -> "Errors":
        """Raises KeyError or TypeError if the table is of another version of culmen."""
        data = {key: value for key, value in table.items() if key != "scale"}
        parameters, derived = (list(map(_row_of, data.get(key, []))) for key in ("parameters", "derived"))
        return cls(**{**data, "parameters": parameters, "derived": derived})

    def to_json(self) -> str:
        return json.dumps(self.as_table())

    @classmethod
    def from_json(cls, text: str) -> "Errors":
        return cls.from_table(json.loads(text))


def _row_of(row: dict[str, Any]) -> ParameterError:
    return ParameterError(**{**row, "interval": Interval(**row["interval"]) if row["interval"] else None})


@dataclass(frozen=True)
class Wanted:
    """The requested errors. ``up``: see Errors; for residuals it is 1."""

    profile: bool = False
    confidence: float = ONE_SIGMA
    up: float = 1.0

    @property
    def reach(self) -> float:
        """The half-width of an interval in errors: its square is the quantile of χ² for one degree of freedom."""
        return NormalDist().inv_cdf((1 + self.confidence) / 2)

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise InputError(f"confidence must be between 0 and 1, such as 0.683, got {self.confidence!r}")
        if not 0 < self.up < math.inf:
            raise InputError(f"up must be above 0 (1 if the value is a χ², 0.5 if it is ±log L), got {self.up!r}")


@dataclass(frozen=True)
class Best:
    """The candidate whose errors are computed, and its outcome."""

    x: list[float]
    cost: float  # the value as it is minimized
    residuals: list[float]  # empty: a value was minimized
    evaluation: int | None = None
    extras: dict[str, float] = field(default_factory=dict)


def _wall(p: _core.Parameter, value: float) -> str:
    """The bound, if the value equals it. Errors decide which values near a bound are at it: bounds may be very wide."""
    for bound, word in ((p.lower, "lower"), (p.upper, "upper")):
        near = _ON_WALL * (p.upper - p.lower)
        at_zero = near if math.isfinite(near) else 0.0
        if math.isfinite(bound) and abs(value - bound) <= min(near, _ON_WALL * abs(bound) or at_zero):
            return word
    return ""


def held_parameters(space: _core.Space, x: list[float]) -> dict[str, str]:
    """The reasons, by name, why parameters have no error; the errors of the others hold if these do not change."""
    out = {}
    for p, value, active in zip(space.parameters, x, space.activity(x), strict=True):
        if not active:
            out[p.name] = "inactive"
        elif p.kind != "real":
            out[p.name] = f"{p.kind}, held fixed"
        elif word := _wall(p, value):
            out[p.name] = f"{AT_BOUND} ({word}), held fixed"
    return out


def why_nothing_free(held: Mapping[str, str]) -> str:
    """``held``: all parameters, and why they have no error."""
    if all(why.startswith(AT_BOUND) for why in held.values()):
        return "every parameter is at a bound"
    return f"no parameter is free: {', '.join(f'{name}: {why}' for name, why in held.items())}"


def _shown_interval(value: Any, interval: Interval, digits: int | None) -> str:
    ends = ((interval.lower, interval.lower_note), (interval.upper, interval.upper_note))
    return " / ".join(note if end is None else shown_error(end - value, digits, "+") for end, note in ends)
