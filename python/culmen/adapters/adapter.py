"""What an adapter is, and what adapters share."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .. import _core
from .._core import InputError


@dataclass(frozen=True)
class Terms:
    """What is searched: ``evaluations`` is 0 where their number is not known."""

    space: _core.Space
    seed: int
    objectives: int
    evaluations: int


class Adapter(Protocol):
    """``window``: how many candidates are open at a time, where tells come in order; 0: a batch is told before the next
    is asked for. Candidates are numbered from 0 in the order in which ``ask`` gave them.
    """

    library: str  # with its version, as in "optuna 5.0.0"
    window: int

    def ask(self) -> list[list[float]]:
        """Vectors in the space's order: one, or a batch; none: there are no more, ever."""
        ...

    def tell(self, number: int, values: Sequence[float] | None) -> None:
        """Less is better; None: it failed, or will not be evaluated; empty: it is infeasible."""
        ...

    def hear(self, vector: Sequence[float], values: Sequence[float]) -> None:
        """What came of a vector that was not asked for."""
        ...


class Worst:
    """What a library is told where there are no values: the worst so far, of each objective."""

    def __init__(self, objectives: int, before: float = 1e100) -> None:
        """``before``: while there is none."""
        self._values, self._before = [-float("inf")] * objectives, before

    def of(self, values: Sequence[float] | None) -> list[float]:
        if not values:
            return [self._before if worst == -float("inf") else worst for worst in self._values]
        self._values = [max(pair) for pair in zip(self._values, values, strict=True)]
        return list(values)


def batch_of(name: str, options: dict[str, Any]) -> int:
    """Takes the option ``batch``, 1 where it is not there."""
    batch = options.pop("batch", 1)
    if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
        raise InputError(f"optimizer '{name}': option 'batch' is {batch!r}, it must be a whole number from 1 on")
    return batch


def unknown(name: str, what: str, kind: str, known: Iterable[str]) -> InputError:
    """``kind``: as in "sampler of optuna"."""
    names = sorted(set(known))
    low = {n.lower(): n for n in names}
    near = [low[n] for n in difflib.get_close_matches(what.lower(), low, 3, 0.5)]
    if not what:
        return InputError(f"optimizer '{name}' does not say which {kind}; such as {name.rstrip(':')}:{names[0]}")
    hint = f"did you mean {', '.join(near)}?" if near else f"such as {', '.join(names[:6])}"
    return InputError(f"optimizer '{name}': '{what}' is no {kind}; {hint}")


def needs_order(name: str, terms: Terms) -> None:
    for p in terms.space.parameters:
        if p.kind == "categorical":
            raise InputError(f"optimizer '{name}' needs parameters with an order; '{p.name}' is categorical")


def one_objective(name: str, terms: Terms) -> None:
    if terms.objectives > 1:
        raise InputError(f"optimizer '{name}' takes one objective, not {terms.objectives}")
