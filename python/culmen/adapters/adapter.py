"""The interface of adapters, and functions that they share."""

import difflib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .. import _core
from .._core import InputError


@dataclass(frozen=True)
class Terms:
    """The problem: ``evaluations`` is 0 if their number is unknown."""

    space: _core.Space
    seed: int
    objectives: int
    evaluations: int


class Adapter(Protocol):
    """``window``: the largest number of open candidates, if results can be told one by one, in order. 0: a batch must
    be told before ``ask`` gives the next one. Candidates are numbered from 0 in the order in which ``ask`` returned
    them.
    """

    library: str  # with its version, such as "optuna 5.0.0"
    window: int

    def ask(self) -> list[list[float]]:
        """One vector or a batch of vectors, in the space's order. None: the optimizer has ended."""
        ...

    def tell(self, number: int, values: Sequence[float] | None) -> None:
        """``values`` are minimized. None: the candidate failed, or will not be evaluated. Empty: it is infeasible."""
        ...

    def hear(self, vector: Sequence[float], values: Sequence[float]) -> None:
        """The outcome of a vector that the optimizer did not propose."""
        ...


class Worst:
    """The values that replace the values of a failed candidate, for a library: the worst values so far, for each
    objective."""

    def __init__(self, objectives: int, before: float = 1e100) -> None:
        """``before``: the value until another one is known."""
        self._values, self._before = [-float("inf")] * objectives, before

    def of(self, values: Sequence[float] | None) -> list[float]:
        if not values:
            return [self._before if worst == -float("inf") else worst for worst in self._values]
        self._values = [max(pair) for pair in zip(self._values, values, strict=True)]
        return list(values)


def batch_of(name: str, options: dict[str, Any]) -> int:
    """Removes the option ``batch`` and returns it; 1 if it is missing."""
    batch = options.pop("batch", 1)
    if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
        raise InputError(f"optimizer '{name}': option 'batch' must be a whole number, at least 1, got {batch!r}")
    return batch


def unknown(name: str, what: str, owner: str, kind: str, known: Iterable[str]) -> InputError:
    """The error that ``owner`` has no ``what`` of this ``kind``. For example, ``owner`` is "optuna" and ``kind`` is
    "sampler"."""
    names = sorted(set(known))
    low = {n.lower(): n for n in names}
    near = [low[n] for n in difflib.get_close_matches(what.lower(), low, 3, 0.5)]
    if not what:
        return InputError(
            f"optimizer '{name}' does not name a {kind} of {owner}; write for example {name.rstrip(':')}:{names[0]}"
        )
    hint = f"did you mean {', '.join(near)}?" if near else f"known are for example {', '.join(names[:6])}"
    return InputError(f"optimizer '{name}': {owner} has no {kind} '{what}'; {hint}")


def needs_order(name: str, terms: Terms) -> None:
    for p in terms.space.parameters:
        if p.kind == "categorical":
            raise InputError(f"optimizer '{name}' needs parameters with an order; '{p.name}' is categorical")


def needs_bounds(name: str, terms: Terms) -> None:
    for p in terms.space.parameters:
        if not (math.isfinite(p.lower) and math.isfinite(p.upper)):
            side = "upper" if math.isfinite(p.lower) else "lower"
            raise InputError(f"optimizer '{name}' needs both bounds of every parameter; '{p.name}' has no {side} bound")


def one_objective(name: str, terms: Terms) -> None:
    if terms.objectives > 1:
        raise InputError(f"optimizer '{name}' works for one objective, got {terms.objectives}")
