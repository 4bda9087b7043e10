"""culmen's optimizers as a sampler of Optuna: ``optuna.create_study(sampler=CulmenSampler("cmaes"))``."""

import hashlib
import os
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from types import NoneType
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from . import _core, adapters
from .base.keywords import check_whole
from .problem import parameter
from .problem.given import as_argument
from .problem.options import name_of
from .problem.space import Space

Vector = list[float]

_BEGINS_AT = "culmen:begins_at"  # system attribute of the trial in which a search begins: the trial where it begins


class CulmenSampler(BaseSampler):
    """An optimizer of culmen as a sampler of Optuna. Optuna runs the study.

    - ``optimizer``, ``options``: as for ``culmen.Optimizer``.
    - ``seed``: seed of the random numbers, an integer ≥ 0. Default: another seed for each sampler, so that several
      processes evaluate different candidates.
    - ``search_space``: the parameters of the search. Default: the parameters that all finished trials share.
    - ``independent_sampler``: the sampler for all other suggestions, for example before the first trial has finished.
      Default: random.
    - ``generational``: as for ``culmen.Optimizer``. None: False if you name an optimizer that can be asynchronous.

    If the search space changes, the search restarts and learns from all finished trials. Failed and pruned trials are
    failed evaluations. The search learns from trials of other processes only when it starts.

    A sampler, and a study that holds it, can be pickled and copied. The copy continues as the original would. Call
    ``reseed_rng()`` in each copy if several copies run in parallel.

    The first suggestion raises InputError if an option is wrong, or if the optimizer cannot search this space.
    """

    def __init__(
        self,
        optimizer: str | None = None,
        *,
        seed: int | None = None,
        options: Mapping[str, bool | float | str] | None = None,
        search_space: Mapping[str, BaseDistribution] | None = None,
        independent_sampler: BaseSampler | None = None,
        generational: bool | None = None,
    ) -> None:
        optimizer = name_of(optimizer, "CulmenSampler: optimizer") or None
        if seed is not None:
            seed = as_argument(seed)
            check_whole("CulmenSampler: seed", seed, 0, 2**64 - 1)
        if not isinstance(options, (Mapping, NoneType)):
            raise _core.InputError(
                f'CulmenSampler: options must be a dict such as {{"population": 20}}, got {options!r:.80}'
            )
        if optimizer and not _may_exist(optimizer):
            raise _core.InputError(f"CulmenSampler: {_core.unknown_optimizer(optimizer)}")
        self._optimizer, self._seed, self._options = optimizer, seed, dict(options or {})
        self._is_seeded = seed is not None
        self._generational = generational
        self._given = dict(search_space) if search_space is not None else None
        self._common = IntersectionSearchSpace()
        self._independent = independent_sampler or RandomSampler(seed=None if seed is None else seed % 2**32)
        self._lock = threading.Lock()  # of the following: study.optimize(n_jobs=…) asks from several threads
        self._search: _Search | None = None
        self._open: dict[int, tuple[_Search, int, dict[str, Any]]] = {}  # by the trial's number
        self._own: set[int] = set()  # numbers of the trials that this sampler has seen begin

    def reseed_rng(self) -> None:
        """Takes another seed. If this sampler is a copy, its search restarts and learns from all finished trials.

        A search that began in this process continues: Optuna calls this method before each trial of parallel threads.
        """
        self._independent.reseed_rng()
        with self._lock:
            self._seed, self._is_seeded = _new_seed(), False
            if self._search is not None and self._search.is_copy():
                self._search = None
                self._open.clear()

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            state = {**self.__dict__, "_open": dict(self._open), "_own": set(self._own)}
        del state["_lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        with self._lock:
            found = self._given if self._given is not None else self._common.calculate(study)
        return {name: d for name, d in found.items() if not d.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        if not search_space:
            return {}
        with self._lock:
            search = self._search
            if search is None or search.distributions != search_space or not search.is_usable():
                search = self._search = self._begin(study, trial, search_space)
            candidate = search.ask()
            if candidate is None:
                return {}
            number, params = candidate
            self._open[trial.number] = search, number, params
            return params

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        self._independent.before_trial(study, trial)
        with self._lock:
            self._own.add(trial.number)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        self._independent.after_trial(study, trial, state, values)
        with self._lock:
            search, number, params = self._open.pop(trial.number, (None, 0, {}))
            if search is None or not search.is_usable():
                return
            if any(trial.params.get(name) != value for name, value in params.items()) and state == TrialState.COMPLETE:
                search.cancel(number)  # it was enqueued with other values, or suggested from another range
            else:
                search.tell(number, _told(study, values) if state == TrialState.COMPLETE and values else None)

    def _begin(self, study: Study, trial: FrozenTrial, distributions: dict[str, BaseDistribution]) -> "_Search":
        known: dict[tuple[float, ...], Any] = {}
        finished = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        usable = [t for t in finished if all(t.distributions.get(name) == d for name, d in distributions.items())]
        usable.sort(key=lambda t: _oriented(study, t.values)[0])
        for t in usable:
            vector = [_number_of(d, t.params[name]) for name, d in distributions.items()]
            known.setdefault(tuple(vector), _told(study, t.values))
        arguments = self._optimizer or "", self._drawn_seed(), self._options, len(study.directions)
        is_elsewhere = False
        if usable and not self._is_seeded:
            best = usable[0].number
            is_elsewhere = self._has_company(study) or _is_a_beginning(study, best)
            if not is_elsewhere:
                study._storage.set_trial_system_attr(trial._trial_id, _BEGINS_AT, best)
        return _Search(distributions, (*arguments, self._is_generational()), known, is_elsewhere)

    def _has_company(self, study: Study) -> bool:
        """Another process runs trials of this study now, or has begun one since this sampler began its first."""
        first = min(self._own, default=0)
        others = (t for t in study.get_trials(deepcopy=False) if t.number not in self._own)
        return any(t.number > first or t.state == TrialState.RUNNING for t in others)

    def _drawn_seed(self) -> int:
        """As late as possible: samplers that were copied before they made a search draw different seeds."""
        if self._seed is None:
            self._seed = _new_seed()
        return self._seed

    def _is_generational(self) -> bool:
        if self._generational is not None:
            return self._generational
        return self._optimizer not in {e["name"] for e in _core.optimizer_catalogue() if e["asynchronous"]}


def _is_a_beginning(study: Study, number: int) -> bool:
    """Whether a search has begun at this trial: another search there would evaluate the same candidates."""
    return any(t.system_attrs.get(_BEGINS_AT) == number for t in study.get_trials(deepcopy=False))


def _new_seed() -> int:
    return secrets.randbits(48)


def _other_seed(seed: int) -> int:
    """The same one each time: a copy of a search repeats its calls."""
    return int.from_bytes(hashlib.blake2b(b"start %d" % seed, digest_size=6).digest(), "little")


class _Search:
    """One optimizer on one space. ``known``: vectors with known outcomes. ``is_elsewhere``: the search begins at a
    random point, because another search begins at the best known one.

    A copy repeats all calls with an optimizer of its own. Call ``is_usable`` before any other use.
    """

    def __init__(
        self,
        distributions: dict[str, BaseDistribution],
        arguments: tuple[str, int, dict[str, bool | float | str], int, bool],
        known: Mapping[tuple[float, ...], Any],
        is_elsewhere: bool,
    ) -> None:
        self.distributions = dict(distributions)
        self._arguments = arguments
        self._starts = [*([self._random_point()] if is_elsewhere else []), *(list(vector) for vector in known)]
        self._calls: list[tuple[str, int, Any]] = []
        self._process: int | None = os.getpid()
        self._known = dict(known)  # outcomes by vector
        self._asked: dict[int, tuple[float, ...]] = {}  # by number, those that become known
        self._core: Any = self._made()
        self._waiting: list[tuple[int, Vector]] = []
        for number, vector in self._ask(len(self._starts)) if self._starts else []:
            if tuple(vector) in known:
                self.tell(number, known[tuple(vector)])
            else:
                self._waiting.append((number, vector))

    def is_copy(self) -> bool:
        """Whether it was copied, also by ``os.fork()``, and not used since then."""
        return self._process != os.getpid()

    def ask(self) -> tuple[int, dict[str, Any]] | None:
        """None: more trials must be told first, or the optimizer has finished. Known points are not evaluated again:
        `auto` proposes its best starts once more, when a local search begins at them."""
        while True:
            found = self._waiting or self._ask(1)
            if not found:
                return None
            number, vector = found.pop(0)
            outcome = self._known.pop(tuple(vector), None)  # once: a small space may have no other points
            if outcome is None:
                break
            self.tell(number, outcome)
        if self._arguments[0] in ("", "auto"):  # others may ask again to measure noise
            self._asked[number] = tuple(vector)
        pairs: Iterator[tuple[tuple[str, BaseDistribution], float]] = zip(
            self.distributions.items(), vector, strict=True
        )
        return number, {name: _value_of(d, x) for (name, d), x in pairs}

    def tell(self, number: int, outcome: float | list[float] | None) -> None:
        self._core.tell(number, outcome)
        self._calls.append(("tell", number, outcome))
        if (vector := self._asked.pop(number, None)) and outcome is not None:
            self._known[vector] = outcome

    def cancel(self, number: int) -> None:
        self._core.cancel(number)
        self._calls.append(("cancel", number, None))

    def _ask(self, n: int) -> list[tuple[int, Vector]]:
        found = self._core.ask(n)
        self._calls.append(("ask", n, list(found)))
        return found

    def is_usable(self) -> bool:
        """False for a copy whose calls cannot be repeated: other builds and CPUs may propose other candidates."""
        self._process = os.getpid()
        if self._core is None:
            self._core = self._repeated(self._calls)
        return self._core is not None

    def _repeated(self, calls: list[tuple[str, int, Any]]) -> _core.Optimizer | None:
        core = self._made()
        for name, number, rest in calls:
            if name == "tell":
                core.tell(number, rest)
            elif name == "cancel":
                core.cancel(number)
            elif core.ask(number) != rest:
                return None
        return core

    def _made(self) -> _core.Optimizer:
        name, seed, options, objectives, generational = self._arguments
        return _core.Optimizer(self._space(), name, seed, options, self._starts, False, objectives, 0, generational)

    def _random_point(self) -> Vector:
        _name, seed, *_ = self._arguments
        # With another seed than the search's: from its own, the search draws the same point again.
        [(_, vector)] = _core.Optimizer(self._space(), "random", _other_seed(seed)).ask(1)
        return vector

    def _space(self) -> _core.Space:
        return Space({name: _parameter(d) for name, d in self.distributions.items()}).core

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_core": None, "_process": None, "_calls": list(self._calls)}


def _oriented(study: Study, values: Sequence[float]) -> list[float]:
    """The values with the signs for minimization."""
    pairs = zip(values, study.directions, strict=True)
    return [-value if direction == StudyDirection.MAXIMIZE else value for value, direction in pairs]


def _told(study: Study, values: Sequence[float]) -> float | list[float]:
    oriented = _oriented(study, values)
    return oriented[0] if len(oriented) == 1 else oriented


def _steps(d: FloatDistribution | IntDistribution) -> bool:
    """Whether its values are counted in steps from its lower bound."""
    return d.step not in (None, 1) or (isinstance(d, FloatDistribution) and d.step is not None)


def _parameter(d: BaseDistribution) -> parameter.Parameter:
    if isinstance(d, CategoricalDistribution):
        return parameter.categorical([str(i) for i in range(len(d.choices))])
    if not isinstance(d, (FloatDistribution, IntDistribution)):
        raise _core.InputError(f"CulmenSampler: distributions of type {type(d).__name__} are not supported")
    if _steps(d):
        return parameter.integer(0, round((d.high - d.low) / d.step))  # type: ignore[operator]
    make = parameter.real if isinstance(d, FloatDistribution) else parameter.integer
    return make(d.low, d.high, "log" if d.log else "linear")


def _value_of(d: BaseDistribution, x: float) -> Any:
    if isinstance(d, CategoricalDistribution):
        return d.choices[int(x)]
    assert isinstance(d, (FloatDistribution, IntDistribution))
    if _steps(d):
        x = min(d.low + x * d.step, d.high)  # type: ignore[operator]
    return int(x) if isinstance(d, IntDistribution) else x


def _number_of(d: BaseDistribution, value: Any) -> float:
    if isinstance(d, CategoricalDistribution):
        return float(d.to_internal_repr(value))
    assert isinstance(d, (FloatDistribution, IntDistribution))
    return float(round((value - d.low) / d.step)) if _steps(d) else float(value)


def _may_exist(optimizer: str) -> bool:
    """Whether it is an optimizer of culmen, one of another library, or a chain of them."""
    is_of_library = optimizer.partition(":")[0] in adapters.FAMILIES
    return is_of_library or "," in optimizer or optimizer in _core.optimizer_names()
