"""culmen's optimizers as a sampler of Optuna: ``optuna.create_study(sampler=CulmenSampler("cmaes"))``."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from . import _core
from .problem import space

Vector = list[float]


class CulmenSampler(BaseSampler):
    """An optimizer of culmen as a sampler of Optuna. Optuna runs the study.

    - ``optimizer``, ``seed``, ``options``: as for ``culmen.Optimizer``.
    - ``search_space``: the parameters of the search. Default: the parameters that all finished trials share.
    - ``independent_sampler``: the sampler for all other suggestions, for example before the first trial has finished.
      Default: random.
    - ``generational``: as for ``culmen.Optimizer``. None: False if you name an optimizer that can be asynchronous.

    If the search space changes, the search restarts and learns from all finished trials. Failed and pruned trials are
    failed evaluations. The search learns from trials of other processes only when it starts.

    The first suggestion raises InputError if an option is wrong, or if the optimizer cannot search this space.
    """

    def __init__(
        self,
        optimizer: str | None = None,
        *,
        seed: int = 1,
        options: Mapping[str, bool | float | str] | None = None,
        search_space: Mapping[str, BaseDistribution] | None = None,
        independent_sampler: BaseSampler | None = None,
        generational: bool | None = None,
    ) -> None:
        self._optimizer, self._seed, self._options = optimizer, seed, dict(options or {})
        self._generational = generational
        self._given = dict(search_space) if search_space is not None else None
        self._common = IntersectionSearchSpace()
        self._independent = independent_sampler or RandomSampler(seed=seed)
        self._lock = threading.Lock()  # of the following: study.optimize(n_jobs=…) asks from several threads
        self._search: _Search | None = None
        self._open: dict[int, tuple[_Search, int, dict[str, Any]]] = {}  # by the trial's number

    def reseed_rng(self) -> None:
        self._independent.reseed_rng()

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
            if self._search is None or self._search.distributions != search_space:
                self._search = self._begin(study, search_space)
            candidate = self._search.ask()
            if candidate is None:
                return {}
            number, params = candidate
            self._open[trial.number] = self._search, number, params
            return params

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        self._independent.before_trial(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        self._independent.after_trial(study, trial, state, values)
        with self._lock:
            search, number, params = self._open.pop(trial.number, (None, 0, {}))
            if search is None:
                return
            if any(trial.params.get(name) != value for name, value in params.items()) and state == TrialState.COMPLETE:
                search.core.cancel(number)  # it was enqueued with other values, or suggested from another range
            else:
                search.core.tell(number, _told(study, values) if state == TrialState.COMPLETE and values else None)

    def _begin(self, study: Study, distributions: dict[str, BaseDistribution]) -> "_Search":
        known: dict[tuple[float, ...], Any] = {}
        finished = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        usable = [t for t in finished if all(t.distributions.get(name) == d for name, d in distributions.items())]
        for t in sorted(usable, key=lambda t: _oriented(study, t.values)[0]):
            vector = [_number_of(d, t.params[name]) for name, d in distributions.items()]
            known.setdefault(tuple(vector), _told(study, t.values))
        return _Search(distributions, self._make(distributions, len(study.directions)), known)

    def _make(self, distributions: dict[str, BaseDistribution], objectives: int) -> Callable[..., _core.Optimizer]:
        core = space.Space({name: _parameter(d) for name, d in distributions.items()}).core
        generational = self._generational
        if generational is None:
            can = {entry["name"] for entry in _core.optimizer_catalogue() if entry["asynchronous"]}
            generational = self._optimizer not in can

        def make(starts: Sequence[Vector]) -> _core.Optimizer:
            return _core.Optimizer(
                core, self._optimizer or "", self._seed, self._options, starts, False, objectives, 0, generational
            )

        return make


class _Search:
    """One optimizer on one space. ``known``: vectors and their outcomes from before."""

    def __init__(
        self,
        distributions: dict[str, BaseDistribution],
        make: Callable[[Sequence[Vector]], _core.Optimizer],
        known: Mapping[tuple[float, ...], Any],
    ) -> None:
        self.distributions = dict(distributions)
        self.core = make([list(vector) for vector in known])
        self._waiting: list[tuple[int, Vector]] = []
        for number, vector in self.core.ask(len(known)):
            if tuple(vector) in known:
                self.core.tell(number, known[tuple(vector)])
            else:
                self._waiting.append((number, vector))

    def ask(self) -> tuple[int, dict[str, Any]] | None:
        """None: more trials must be told first, or the optimizer has finished."""
        found = self._waiting or self.core.ask(1)
        if not found:
            return None
        number, vector = found.pop(0)
        pairs: Iterator[tuple[tuple[str, BaseDistribution], float]] = zip(
            self.distributions.items(), vector, strict=True
        )
        return number, {name: _value_of(d, x) for (name, d), x in pairs}


def _oriented(study: Study, values: Sequence[float]) -> list[float]:
    """To be minimized."""
    pairs = zip(values, study.directions, strict=True)
    return [-value if direction == StudyDirection.MAXIMIZE else value for value, direction in pairs]


def _told(study: Study, values: Sequence[float]) -> float | list[float]:
    oriented = _oriented(study, values)
    return oriented[0] if len(oriented) == 1 else oriented


def _steps(d: FloatDistribution | IntDistribution) -> bool:
    """Its values are counted from its lower bound."""
    return d.step not in (None, 1) or (isinstance(d, FloatDistribution) and d.step is not None)


def _parameter(d: BaseDistribution) -> space.Parameter:
    if isinstance(d, CategoricalDistribution):
        return space.categorical([str(i) for i in range(len(d.choices))])
    if not isinstance(d, (FloatDistribution, IntDistribution)):
        raise _core.InputError(f"CulmenSampler: distributions of type {type(d).__name__} are not supported")
    if _steps(d):
        return space.integer(0, round((d.high - d.low) / d.step))  # type: ignore[operator]
    make = space.real if isinstance(d, FloatDistribution) else space.integer
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
