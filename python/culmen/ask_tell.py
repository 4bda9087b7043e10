"""An optimizer alone, for programs that evaluate candidates themselves."""

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from numbers import Real
from types import NoneType
from typing import Any, Literal, NoReturn

from . import _core
from ._core import InputError
from .base.keywords import check_whole, explained
from .base.surrogates import refuse_surrogates
from .problem.given import Value, plain
from .problem.goals import bounds_of
from .problem.options import OF_DIRECTION, OPTIONS_OF_OTHERS, as_option, check, name_of, spelt_out
from .problem.parameter import Bounds
from .problem.recommended import Recommended
from .problem.space import Space


@dataclass(frozen=True)
class Candidate:
    """One point of the space. ``params`` contains the parameters by name. ``id`` is the candidate's number, from 0."""

    id: int
    params: dict[str, Value]


_WORDS = {
    **dict.fromkeys(("bounds", "dimensions", "search_space", "parameters"), "space"),
    **dict.fromkeys(("method", "algorithm", "sampler"), "optimizer"),
    **dict.fromkeys(("random_state", "rng", "random_seed"), "seed"),
    **dict.fromkeys(("x0", "initial", "start"), "starts"),
    **dict.fromkeys(("n_trials", "budget", "maxiter", "n_calls"), "evaluations"),
}
_ANSWERS = {
    **OPTIONS_OF_OTHERS,
    **dict.fromkeys(OF_DIRECTION, "values are minimized; to maximize a value, tell the optimizer the negative value"),
}


class Optimizer:
    """An optimizer for programs that evaluate candidates themselves. Values are minimized. Example::

        optimizer = culmen.Optimizer({"x": (-5, 5)})
        for _ in range(50):
            for candidate in optimizer.ask(8):
                optimizer.tell(candidate, candidate.params["x"] ** 2)

    - ``space``: the parameters and their bounds, as for ``culmen.minimize``.
    - ``optimizer``: name of an optimizer, or a list of names (a chain). Without a name, culmen chooses the optimizer.
    - ``seed``: the same seed and the same calls give the same candidates.
    - ``options``: options of the optimizer, such as ``{"population": 20}``.
    - ``result="residuals"``: ``tell`` receives a list of residuals. The optimizer minimizes the sum of their squares.
    - ``objectives``: number of objectives. ``tell`` receives one value per objective.
    - ``starts``: points that ``ask`` returns first.
    - ``limits``: bounds on extra values, such as ``{"stress": {"upper": 250}}``.
    - ``evaluations``: number of evaluations that you plan; 0: unknown.
    - ``generational=False``: ``ask`` returns candidates even if results of earlier candidates are missing.
    - ``workers``: with ``generational=False``, the number of candidates that you evaluate in parallel.

    Raises InputError for wrong arguments, and if the optimizer cannot solve the problem.
    """

    @explained("culmen.Optimizer", 'culmen.Optimizer({"x": (0, 1)})', _WORDS, _ANSWERS, as_option)
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
            check_whole(f"Optimizer: {name}", number, least, 2**64 - 1)
        check_whole("Optimizer: objectives", objectives, 1, 1000)
        if result not in ("value", "residuals"):
            raise InputError(f"Optimizer: result must be 'value' or 'residuals', got {result!r}")
        self.space = Space(space)
        refuse_surrogates("Optimizer", optimizer, options, starts, limits)
        self._objectives = objectives
        self._residuals = result == "residuals"
        if not isinstance(generational, bool):
            raise InputError(f"Optimizer: generational must be True or False, got {generational!r}")
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
        """Name of the optimizer."""
        return self._core.name

    def ask(self, n: int = 1) -> list[Candidate]:
        """Returns at most ``n`` candidates. ``ask`` returns fewer candidates if the optimizer first needs results of
        earlier candidates.

        If ``tell`` has received all results and ``ask`` returns an empty list, the optimizer has finished.
        """
        check_whole("Optimizer.ask: n", n, 0, 2**32 - 1)
        asked = [Candidate(number, self.space.core.named(vector)) for number, vector in self._core.ask(n)]
        self._open.update((candidate.id, candidate) for candidate in asked)
        return asked

    @explained("Optimizer.tell", "optimizer.tell(candidate, value)", {}, {"figures": "its new name is 'extras'"})
    def tell(
        self,
        candidate: Candidate,
        value: float | Sequence[float] | None,
        extras: Mapping[str, float] | None = None,
        *,
        duration_s: float = 0.0,
    ) -> None:
        """Gives the optimizer the result of a candidate. The order of the candidates does not matter.

        - ``value``: the value, the residuals, or one value per objective. None: the evaluation failed.
        - ``extras``: extra values by name. Each limit needs its extra value.
        - ``duration_s``: duration of the evaluation in seconds.

        Raises InputError if the candidate is not from ``ask``, already has a result, or was cancelled.
        """
        number = self._id_of(candidate, "tell")
        if missing := [name for name, _, _ in self._limits if value is not None and name not in (extras or {})]:
            raise InputError(f"Optimizer.tell: extras has no '{missing[0]}', which limits needs")
        if value is not None and not self._residuals and (many := _count(value)) != self._objectives:
            raise InputError(
                f"Optimizer.tell: objectives = {self._objectives} needs {self._objectives} values, got {many}"
            )
        try:
            self._core.tell(number, value, self._residuals, duration_s, extras or {}, self._limits)
        except TypeError:
            what = "the value must be a number, a sequence of numbers or None, and extras a dict of numbers"
            raise InputError(f"Optimizer.tell: got {value!r}; {what}") from None
        del self._open[number]

    def cancel(self, candidate: Candidate) -> None:
        """Tells the optimizer that you will not evaluate this candidate."""
        number = self._id_of(candidate, "cancel")
        self._core.cancel(number)
        del self._open[number]

    def _id_of(self, candidate: object, call: str) -> int:
        if not isinstance(candidate, Candidate):
            raise InputError(f"Optimizer.{call}: the candidate must be one that ask() returned, got {candidate!r}")
        if self._open.get(candidate.id, candidate) != candidate:
            raise InputError(
                f"Optimizer.{call}: {candidate!r} differs from the candidate of this id, {self._open[candidate.id]!r}"
            )
        return candidate.id

    def _vector(self, start: Mapping[str, Value] | Sequence[float]) -> list[float]:
        if not isinstance(start, Mapping) and len(start) != len(self.space):
            raise InputError(f"Optimizer: the start {start!r} must have {len(self.space)} values, got {len(start)}")
        named = start if isinstance(start, Mapping) else dict(zip(self.space.names, start, strict=True))
        return self.space.core.vector_of(dict(named))

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a culmen.Optimizer cannot be pickled; make another one with the same seed and repeat its asks and tells"
        )

    @property
    def recommended(self) -> Recommended | None:
        """The candidate that the optimizer "racing" or "bayes" recommends; None for other optimizers.

        If values are noisy, a candidate can have the best single value only by chance. The recommendation uses several
        evaluations.
        """
        return Recommended.of(self._core.recommended, self.space.core)

    @property
    def finished(self) -> bool:
        """True if the optimizer has no more candidates, or if its option ``agreement`` or ``searches`` ends the search.
        If an option ends the search, ``ask`` still returns candidates."""
        return self._core.finished


def _count(value: object) -> int:
    """1 for a string, a number and an array without dimensions."""
    is_many = isinstance(value, Sized) and not isinstance(value, str) and getattr(value, "shape", (1,)) != ()
    return len(value) if is_many else 1  # type: ignore[arg-type]


def _options(options: object) -> dict[str, bool | float | str]:
    if not isinstance(options or {}, Mapping):
        raise InputError(f'Optimizer: options must be a dict such as {{"population": 20}}, got {options!r}')
    given = spelt_out(plain(options or {}))
    if "generational" in given:
        raise InputError("Optimizer: generational is not an option; give it as an argument of Optimizer")
    check(given)
    return given


def _listed(starts: object) -> list[Any]:
    found = plain(starts)
    if not isinstance(found, list) or not all(isinstance(start, (dict, list)) for start in found):
        wanted = "starts must be a list, each a dict of the parameters or a list with a number for each"
        raise InputError(f"Optimizer: {wanted}, got {starts!r}")
    return found


def _checked(limits: object) -> Mapping[str, Mapping[str, float]]:
    is_table = isinstance(limits, Mapping) and all(
        isinstance(name, str) and isinstance(bounds, Mapping) for name, bounds in limits.items()
    )
    if not isinstance(limits, Mapping) or not is_table:
        raise InputError(f'Optimizer: limits must be a dict such as {{"stress": {{"upper": 250}}}}, got {limits!r}')
    for name, bounds in limits.items():
        for key, bound in bounds.items():
            if key not in ("lower", "upper"):
                raise InputError(f"Optimizer: limit '{name}': the keys are lower and upper, got {key!r}")
            if isinstance(bound, bool) or not isinstance(bound, (Real, NoneType)):
                raise InputError(f"Optimizer: limit '{name}': {key} must be a number, got {bound!r}")
    return limits
