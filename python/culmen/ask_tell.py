"""The optimizer alone, for programs that evaluate by themselves."""

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from numbers import Real
from types import NoneType
from typing import Any, Literal, NoReturn

from . import _core
from ._core import InputError
from .problem.goals import bounds_of
from .problem.options import check, name_of, spelt_out
from .problem.recommended import Recommended
from .problem.space import Bounds, Space, Value, plain


@dataclass(frozen=True)
class Candidate:
    """One point of the space; ``id`` counts from 0 in the order of asking."""

    id: int
    params: dict[str, Value]


class Optimizer:
    """Ask for candidates, evaluate them, tell their values (less is better), in any order.

    The same seed and the same calls give the same candidates. Without ``optimizer`` the space and what is told decide.
    ``result="residuals"``: residuals are told, whose squares are summed. ``objectives``: so many values are told.
    ``starts``: what is asked for first. ``limits``: bounds of figures that are told beside the value, such as
    {"stress": {"upper": 250}}; constraints on the parameters are the space's.
    ``evaluations``: how many there will be, where that is known. ``generational=False``: ``ask`` always has a
    candidate, whatever has been told; ``workers`` says how many are evaluated at a time then.
    Raises InputError for an unknown optimizer or option, and where the optimizer cannot work on this.
    """

    def __init__(
        self,
        space: Space | Mapping[str, Bounds] | Iterable[Bounds],
        optimizer: str | Sequence[str] | None = None,
        *,
        seed: int = 1,
        options: Mapping[str, bool | float | str | Mapping[str, bool | float | str]] | None = None,
        result: Literal["value", "residuals"] = "value",
        objectives: int = 1,
        starts: Sequence[Mapping[str, Value] | Sequence[float]] = (),
        limits: Mapping[str, Mapping[str, float]] | None = None,
        evaluations: int = 0,
        generational: bool = True,
        workers: int = 1,
    ) -> None:
        for name, number, least in (("seed", seed, 0), ("evaluations", evaluations, 0), ("workers", workers, 1)):
            _check_whole(f"Optimizer: {name}", number, least, 2**64 - 1)
        _check_whole("Optimizer: objectives", objectives, 1, 1000)
        if result not in ("value", "residuals"):
            raise InputError(f"Optimizer: result = {result!r}: 'value' or 'residuals' is wanted")
        self.space = Space(space)
        self._objectives = objectives
        self._residuals = result == "residuals"
        if not isinstance(generational, bool):
            raise InputError(f"Optimizer: generational = {generational!r}: True or False is wanted")
        self._limits = bounds_of(_checked(limits or {}))
        self._core = _core.Optimizer(
            self.space.core,
            name_of(optimizer, "Optimizer: optimizer"),
            seed,
            _options(options),
            [self._vector(start) for start in _listed(starts)],
            self._residuals,
            objectives,
            evaluations,
            generational,
            self._limits,
        )
        if workers > 1:
            self._core.resize(workers)
        self._open: dict[int, Candidate] = {}

    @property
    def name(self) -> str:
        """Which optimizer it is."""
        return self._core.name

    def ask(self, n: int = 1) -> list[Candidate]:
        """At most ``n`` candidates; fewer: some that are open must be told first.

        None although nothing is open: it has finished.
        """
        _check_whole("Optimizer.ask: n", n, 0, 2**32 - 1)
        asked = [Candidate(number, self.space.core.named(vector)) for number, vector in self._core.ask(n)]
        self._open.update((candidate.id, candidate) for candidate in asked)
        return asked

    def tell(
        self,
        candidate: Candidate,
        value: float | Sequence[float] | None,
        figures: Mapping[str, float] | None = None,
        *,
        duration_s: float = 0.0,
    ) -> None:
        """The value, the residuals, or the values of several objectives; ``None``: the evaluation failed.

        ``figures``: further ones by name, those of the limits among them. ``duration_s``: how long it took, seconds.
        Raises InputError for a candidate that was told or cancelled before, or that is not what was asked for.
        """
        number = self._id_of(candidate, "tell")
        if missing := [name for name, _, _ in self._limits if value is not None and name not in (figures or {})]:
            raise InputError(f"Optimizer.tell: figures lack '{missing[0]}', which limits name")
        if value is not None and not self._residuals and (many := _count(value)) != self._objectives:
            raise InputError(f"Optimizer.tell: {many} values are given, objectives = {self._objectives} are wanted")
        try:
            self._core.tell(number, value, self._residuals, duration_s, figures or {}, self._limits)
        except TypeError:
            what = "a number, a sequence of numbers or None is wanted, and figures as a dict of numbers"
            raise InputError(f"Optimizer.tell: {value!r}: {what}") from None
        del self._open[number]

    def cancel(self, candidate: Candidate) -> None:
        """The candidate will not be evaluated."""
        number = self._id_of(candidate, "cancel")
        self._core.cancel(number)
        del self._open[number]

    def _id_of(self, candidate: object, call: str) -> int:
        if not isinstance(candidate, Candidate):
            raise InputError(f"Optimizer.{call}: {candidate!r} is no candidate; give what ask() gave")
        if self._open.get(candidate.id, candidate) != candidate:
            raise InputError(
                f"Optimizer.{call}: {candidate!r} is not what was asked for, which is {self._open[candidate.id]!r}"
            )
        return candidate.id

    def _vector(self, start: Mapping[str, Value] | Sequence[float]) -> list[float]:
        if not isinstance(start, Mapping) and len(start) != len(self.space):
            raise InputError(f"Optimizer: the start {start!r} has {len(start)} values, {len(self.space)} are wanted")
        named = start if isinstance(start, Mapping) else dict(zip(self.space.names, start, strict=True))
        return self.space.core.vector_of(dict(named))

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a culmen.Optimizer cannot be pickled; with the same seed, asks and tells another one is the same"
        )

    @property
    def recommended(self) -> Recommended | None:
        """What it would take, where it evaluates repeatedly ("racing"): of values with noise the least is only the
        luckiest. Its ``value`` is to be minimized."""
        return Recommended.of(self._core.recommended, self.space.core)

    @property
    def finished(self) -> bool:
        """True when it has nothing more to propose."""
        return self._core.finished


def _check_whole(what: str, number: object, lowest: int, highest: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not lowest <= number <= highest:
        raise InputError(f"{what} = {number!r}: a whole number from {lowest} to {highest} is wanted")


def _count(value: object) -> int:
    """Of an array without dimensions, a text and a number: 1."""
    is_many = isinstance(value, Sized) and not isinstance(value, str) and getattr(value, "shape", (1,)) != ()
    return len(value) if is_many else 1  # type: ignore[arg-type]


def _options(options: object) -> dict[str, bool | float | str]:
    if not isinstance(options or {}, Mapping):
        raise InputError(f'Optimizer: options = {options!r}: a dict such as {{"population": 20}} is wanted')
    given = spelt_out(plain(options or {}))
    if "generational" in given:
        raise InputError("Optimizer: generational is an argument of its own here, beside options")
    check(given)
    return given


def _listed(starts: object) -> list[Any]:
    found = plain(starts)
    if not isinstance(found, list) or not all(isinstance(start, (dict, list)) for start in found):
        wanted = "a list of starts is wanted, each a dict of the parameters or a list of a number for each"
        raise InputError(f"Optimizer: starts = {starts!r}: {wanted}")
    return found


def _checked(limits: object) -> Mapping[str, Mapping[str, float]]:
    is_table = isinstance(limits, Mapping) and all(
        isinstance(name, str) and isinstance(bounds, Mapping) for name, bounds in limits.items()
    )
    if not isinstance(limits, Mapping) or not is_table:
        raise InputError(f'Optimizer: limits = {limits!r}: a dict such as {{"stress": {{"upper": 250}}}} is wanted')
    for name, bounds in limits.items():
        for key, bound in bounds.items():
            if key not in ("lower", "upper"):
                raise InputError(f"Optimizer: limit '{name}' has no key {key!r}; known are lower and upper")
            if isinstance(bound, bool) or not isinstance(bound, (Real, NoneType)):
                raise InputError(f"Optimizer: limit '{name}': {key} = {bound!r}: a number is wanted")
    return limits
