"""All evaluations of a store as arrays, with the user's names and signs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .. import _core
from .opening import Opened

if TYPE_CHECKING:
    import numpy as np

STATUSES: tuple[str, ...] = tuple(_core.STATUSES)


@dataclass(frozen=True)
class Parameter:
    """A column of x. ``choices``: the values that the numbers 0, 1, … mean; empty: the numbers are the values."""

    name: str
    kind: str  # real, integer, ordinal, categorical, boolean
    lower: float
    upper: float
    scale: str = "linear"
    choices: tuple[Any, ...] = ()

    @property
    def ordered(self) -> bool:
        """Whether the parameter's values have an order."""
        return self.kind != "categorical"


@dataclass(frozen=True)
class Objective:
    name: str
    maximize: bool = False

    @property
    def sign(self) -> float:
        """The factor from stored values, which are minimized, to the user's values."""
        return -1.0 if self.maximize else 1.0


class Table:
    """The arrays of culmen.Evaluations, which documents each."""

    def __init__(self, opened: Opened) -> None:
        self.opened, self.path, self.name = opened, opened.path, opened.begun.name
        store = self.store = opened.store
        self.configuration = opened.begun.configuration
        self.space = opened.space
        raw = store.columns()
        self.summary = opened.summary  # after the columns, so that its best is among them, or later
        self.x: np.ndarray = raw["x"]
        if not len(self.x) and self.space is not None:  # a store without candidates does not know their length
            self.x = self.x.reshape(0, len(self.space))
        self.extras: dict[str, np.ndarray] = raw["extras"]
        self.extras_left_out: int = raw["extras_left_out"]
        self.evaluation: np.ndarray = raw["evaluation"]
        self.status: np.ndarray = raw["status"]
        self.violation: np.ndarray = raw["violation"]
        self.at_s: np.ndarray = raw["at_s"]
        self.duration_s: np.ndarray = raw["duration_s"]
        self.worker: np.ndarray = raw["worker"]
        self.epoch: np.ndarray = raw["epoch"]
        self.attempt: np.ndarray = raw["attempt"]
        self.told: np.ndarray = raw["told"]
        self.cancelled: np.ndarray = raw["cancelled"].astype(bool)
        self.residuals: np.ndarray = raw["residuals"]  # how many each has
        self.oriented: np.ndarray = raw["values"] if raw["values"].shape[1] else raw["value"][:, None]
        self.parameters = _parameters_of(self.space, self.x.shape[1])
        self.objectives = _objectives_of(self.configuration, self.oriented.shape[1])

    def __len__(self) -> int:
        return len(self.evaluation)

    def __repr__(self) -> str:
        best = "" if self.best is None else f", best {self.values[self.best, 0]:.6g}"
        return f"Evaluations({self.name}: {len(self)} asked, {int((self.told >= 0).sum())} told{best})"

    @cached_property
    def values(self) -> np.ndarray:
        import numpy as np

        signed: np.ndarray = self.oriented * np.array([objective.sign for objective in self.objectives])
        return signed

    @cached_property
    def succeeded(self) -> np.ndarray:
        ok: np.ndarray = self.status == 0
        return ok

    @cached_property
    def failed(self) -> np.ndarray:
        failed: np.ndarray = self.status > 0
        return failed

    @cached_property
    def feasible(self) -> np.ndarray:
        """It succeeded, violates no constraint, and the optimizer was told: it may be a result of the study."""
        return self.succeeded & ~(self.violation > 0) & (self.told >= 0)

    @cached_property
    def order(self) -> np.ndarray:
        """Rows in the order in which the optimizer was told of them."""
        import numpy as np

        rows = np.flatnonzero(self.told >= 0)
        ordered: np.ndarray = rows[np.argsort(self.told[rows])]
        return ordered

    @cached_property
    def best(self) -> int | None:
        """The row of the best evaluation (with several objectives, by the first); None if nothing succeeded."""
        import numpy as np

        told = self.order
        if not self.succeeded[told].any():
            return None
        key = np.lexsort((self.told[told], self.oriented[told, 0], self.violation[told], ~self.succeeded[told]))
        return int(told[key[0]])

    def named(self, row: int) -> dict[str, Any]:
        """The parameters of one evaluation by name, without inactive ones."""
        if self.space is not None:
            named: dict[str, Any] = self.space.named(self.x[row].tolist())
            return named
        return {p.name: float(v) for p, v in zip(self.parameters, self.x[row], strict=True)}

    def column(self, parameter: int) -> np.ndarray:
        """One parameter in the user's values: numbers; or objects if it is a choice or a boolean, or can be inactive
        (None)."""
        import numpy as np

        p, numbers = self.parameters[parameter], self.x[:, parameter]
        if self._conditional:
            return np.array([row.get(p.name) for row in self._named_rows], dtype=object)
        own: np.ndarray = numbers
        if p.choices or p.kind == "boolean":
            own = np.array(p.choices or (False, True), dtype=object)[numbers.astype(int)]
        elif p.kind == "integer":
            own = numbers.astype(np.int64)
        return own

    @property
    def names(self) -> list[str]:
        """All parameters, also fixed ones, which x does not contain."""
        return [p.name for p in self.parameters] if self.space is None else [p.name for p in self.space.all]

    def _constant(self, name: str) -> np.ndarray:
        """A parameter that x does not contain: fixed, or inactive because of fixed ones (None)."""
        import numpy as np

        rows = self._named_rows if self._conditional else [self.named(row) for row in range(len(self))[:1]] * len(self)
        values = [row.get(name) for row in rows]
        plain = values and all(type(value) is type(values[0]) and isinstance(value, int | float) for value in values)
        return np.array(values, dtype=None if plain else object)

    @property
    def _conditional(self) -> bool:
        return self.space is not None and bool(self.space.conditional)

    @cached_property
    def _named_rows(self) -> list[dict[str, Any]]:
        assert self.space is not None
        return [self.space.named(row) for row in self.x.tolist()]

    @cached_property
    def active(self) -> np.ndarray:
        """Of the same shape as x: False if the parameter is inactive in the evaluation."""
        import numpy as np

        if not self._conditional:
            everywhere: np.ndarray = np.ones(self.x.shape, bool)
            return everywhere
        names = [p.name for p in self.parameters]
        return np.array([[name in row for name in names] for row in self._named_rows], bool).reshape(self.x.shape)

    def outcomes(self, batch: int = 10_000) -> Iterator[dict[str, Any]]:
        """Every recorded outcome in order, with its message and residuals, one at a time."""
        first = 0
        while rows := self.store.outcomes(first, batch):
            yield from rows
            first = rows[-1]["evaluation"] + 1

    @cached_property
    def columns(self) -> dict[str, np.ndarray]:
        """Arrays by the column names of ``culmen export``; parameters with choices as objects."""
        import numpy as np

        words = np.array([*STATUSES, ""], dtype=object)[self.status]
        words[self.cancelled & (self.status < 0)] = "cancelled"
        out: dict[str, np.ndarray] = {"evaluation": self.evaluation, "status": words}
        searched = {p.name: i for i, p in enumerate(self.parameters)}
        for name in self.names:
            column = self.column(searched[name]) if name in searched else self._constant(name)
            out[free_name(name, "parameter", out)] = column
        for k, objective in enumerate(self.objectives):
            out[free_name(objective.name, "objective", out)] = self.values[:, k]
        for name, figures in self.extras.items():
            out[free_name(name, "extra", out)] = figures
        for name in ("violation", "at_s", "duration_s", "worker", "epoch", "attempt", "told"):
            out[name] = getattr(self, name)
        return out


RESERVED = (
    "evaluation",
    "status",
    "message",
    "violation",
    "at_s",
    "duration_s",
    "worker",
    "epoch",
    "attempt",
    "told",
    "residuals",
)


def free_name(name: str, kind: str, taken: dict[str, Any]) -> str:
    """The name; if it is taken, with its kind in front."""
    while name in taken or name in RESERVED:
        name = f"{kind}.{name}"
    return name


def _parameters_of(space: _core.Space | None, dimension: int) -> list[Parameter]:
    """A store made by a C++ program has no names."""
    if space is None:
        return [Parameter(f"x{i}", "real", float("nan"), float("nan")) for i in range(dimension)]
    return [_parameter_of(p) for p in space.parameters]


def _parameter_of(p: _core.Parameter) -> Parameter:
    choices = tuple(p.choices) if p.kind in ("ordinal", "categorical") else ()
    upper = len(choices) - 1 if choices else p.upper
    return Parameter(p.name, p.kind, 0 if choices else p.lower, upper, p.scale, choices)


def _objectives_of(configuration: dict[str, Any], count: int) -> list[Objective]:
    named = [Objective(name, way == "maximize") for name, way in (configuration.get("objectives") or {}).items()]
    if len(named) == count:
        return named
    return [Objective("value")] if count == 1 else [Objective(f"value{k}") for k in range(count)]
