"""The optimizer alone, for programs that evaluate by themselves."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from . import _core
from .result import Recommended
from .space import Bounds, Space, Value


@dataclass(frozen=True)
class Candidate:
    """One point of the space; ``id`` counts from 0 in the order of asking."""

    id: int
    params: dict[str, Value]


class Optimizer:
    """Ask for candidates, evaluate them, tell their values (less is better), in any order.

    The same seed and the same calls give the same candidates. Without ``optimizer`` the space and what is told decide.
    ``result="residuals"``: residuals are told, whose squares are summed. ``objectives``: so many values are told.
    ``evaluations``: how many there will be, where that is known. ``generational=False``: ``ask`` always has a
    candidate, whatever has been told.
    Raises InputError for an unknown optimizer or option, and where the optimizer cannot work on this.
    """

    def __init__(
        self,
        space: Space | Mapping[str, Bounds] | Iterable[Bounds],
        optimizer: str | Sequence[str] | None = None,
        *,
        seed: int = 1,
        options: Mapping[str, bool | float | str] | None = None,
        result: Literal["value", "residuals"] = "value",
        objectives: int = 1,
        evaluations: int = 0,
        generational: bool = True,
    ) -> None:
        self.space = Space(space)
        self._residuals = result == "residuals"
        self._core = _core.Optimizer(
            self.space.core,
            ",".join((optimizer,) if isinstance(optimizer, str) else optimizer or ()),
            seed,
            dict(options or {}),
            (),
            self._residuals,
            objectives,
            evaluations,
            generational,
        )

    @property
    def name(self) -> str:
        """Which optimizer it is."""
        return self._core.name

    def ask(self, n: int = 1) -> list[Candidate]:
        """At most ``n`` candidates; fewer: some that are open must be told first.

        None although nothing is open: it has finished.
        """
        if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n < 2**32:
            raise _core.InputError(f"Optimizer.ask: n = {n!r}: a whole number from 0 to {2**32 - 1} is wanted")
        return [Candidate(number, self.space.core.named(vector)) for number, vector in self._core.ask(n)]

    def tell(self, candidate: Candidate, value: float | Sequence[float] | None) -> None:
        """The value, the residuals, or the values of several objectives; ``None``: the evaluation failed.

        Raises InputError for a candidate that was told or cancelled before.
        """
        self._core.tell(candidate.id, value, self._residuals)

    def cancel(self, candidate: Candidate) -> None:
        """The candidate will not be evaluated."""
        self._core.cancel(candidate.id)

    @property
    def recommended(self) -> Recommended | None:
        """What it would take, where it evaluates repeatedly ("racing"): of values with noise the least is only the
        luckiest. Its ``value`` is to be minimized."""
        return Recommended.of(self._core.recommended, self.space.core)

    @property
    def finished(self) -> bool:
        """True when it has nothing more to propose."""
        return self._core.finished
