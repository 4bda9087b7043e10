"""The optimizer alone, for programs that evaluate by themselves."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from . import _core
from .space import Bounds, Space, Value


@dataclass(frozen=True)
class Candidate:
    """One point of the space; ``id`` counts from 0 in the order of asking."""

    id: int
    params: dict[str, Value]


class Optimizer:
    """Ask for candidates, evaluate them, tell their values (less is better), in any order.

    The same seed and the same calls give the same candidates. Raises InputError for an unknown optimizer or option.
    """

    def __init__(
        self,
        space: Space | Mapping[str, Bounds] | Iterable[Bounds],
        optimizer: str = "cmaes",
        *,
        seed: int = 1,
        options: Mapping[str, float] | None = None,
    ) -> None:
        self.space = Space(space)
        self._core = _core.Optimizer(self.space.core, optimizer, seed, dict(options or {}))

    def ask(self, n: int = 1) -> list[Candidate]:
        """At most ``n`` candidates; fewer: some that are open must be told first.

        None although nothing is open: it has finished.
        """
        return [Candidate(number, self.space.core.named(vector)) for number, vector in self._core.ask(n)]

    def tell(self, candidate: Candidate, value: float | None) -> None:
        """``None``: the evaluation failed. Raises InputError for a candidate that was told or cancelled before."""
        self._core.tell(candidate.id, value)

    def cancel(self, candidate: Candidate) -> None:
        """The candidate will not be evaluated."""
        self._core.cancel(candidate.id)

    @property
    def finished(self) -> bool:
        """True when it has nothing more to propose."""
        return self._core.finished
