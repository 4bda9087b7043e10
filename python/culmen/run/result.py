"""The result of a study."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .. import _core
from .._core import CulmenError, InputError
from ..base.text import shown
from ..fit.errors import Errors
from ..problem.given import Value
from ..problem.goals import INFEASIBLE
from ..problem.recommended import Recommended
from ..problem.space import at_bounds, fixed_names
from ..report.reading import Evaluations, read
from ..store.front import Trade
from ..store.opening import Opened

if TYPE_CHECKING:
    import plotly.graph_objects


@dataclass(frozen=True)
class Result:
    """The best candidate, and facts about the study. If no evaluation succeeded, ``best``, ``x`` and ``value`` are
    None.
    """

    best: dict[str, Value] | None  #: the best parameters by name, without inactive parameters
    value: float | None  #: the best value
    x: list[float] | None  #: the best parameters as numbers, in the order of the space
    evaluation: int | None  #: number of the best evaluation
    violation: float  #: amount by which the best evaluation violates constraints and limits; 0: no violation
    #: with several objectives: values of all objectives for the candidate that is best in the first objective
    values: dict[str, float]
    #: with several objectives: the Pareto front; each element has ``evaluation``, ``params`` and ``values``
    front: list[Trade]
    residuals: list[float]  #: residuals of the best evaluation
    extras: dict[str, float]  #: extra values of the best evaluation
    at_bounds: dict[str, str]  #: "lower" or "upper" for each parameter whose best value is at a bound
    fixed: list[str]  #: names of the fixed parameters
    reason: str  #: why the run ended, as one word; see the table below
    message: str  #: why the run ended, as a sentence
    final: bool  #: True: the study has finished. False: it has stopped and can be resumed from its store
    evaluations: int  #: number of evaluations
    failed: int  #: number of failed evaluations
    optimizer: str  #: name of the optimizer
    optimizer_why: str  #: why culmen chose this optimizer; empty if you chose it
    generational: bool  #: False: the study was asynchronous
    remark: str  #: remark of the optimizer on its search; may be empty
    #: the candidate that "racing" or "bayes" recommends: ``params``, ``value``, ``error`` and ``evaluations``
    recommended: Recommended | None
    first_failure: str  #: message of the first failed evaluation; empty if none failed
    retried: int  #: number of repeated evaluations
    lost: int  #: number of evaluations that were lost together with a worker; other workers repeated them
    workers: int  #: number of workers
    team_size: int  #: number of ranks in each team; 0: without teams
    nodes: int  #: number of machines that had workers at the start of the run
    wall_s: float  #: duration of the run in seconds
    evaluated_s: float  #: total duration of the evaluations of this run in seconds
    served_s: float  #: time in seconds from the first ready worker to the end of the run
    present_s: float  #: sum over all workers: time in seconds for which the worker was present, busy or idle
    store: str  #: path of the store; empty if there is none

    # How its errors are computed, and the errors that were computed while the ranks of a launch still served.
    _finder: Callable[..., Errors] | None = field(default=None, repr=False, compare=False)
    _kept: Opened | None = field(default=None, repr=False, compare=False)  # the evaluations of a run without a store
    _known_errors: Errors | None = field(default=None, repr=False, compare=False)
    _lost_errors: str = field(default="", repr=False, compare=False)  # why they could not be computed then

    @classmethod
    def of(cls, core: _core.Result, space: _core.Space, finder: Callable[..., Errors] | None = None) -> "Result":
        """``finder`` is called with the result and the arguments of culmen.errors."""
        x = core.best
        found = x is not None
        return cls(
            best=space.named(x) if x is not None else None,
            value=core.best_value,
            x=None if x is None else space.spread(x),
            evaluation=core.best_evaluation if found else None,
            violation=core.violation if found else 0.0,
            values=dict(zip(core.objectives, core.values, strict=False)) if core.values else {},
            front=[Trade(n, space.named(y), dict(zip(core.objectives, v, strict=True))) for n, y, v in core.front],
            residuals=list(core.residuals),
            extras=dict(core.extras),
            at_bounds={} if x is None else at_bounds(space, x),
            fixed=fixed_names(space),
            recommended=Recommended.of(core.recommended, space),
            first_failure=core.first_failure,
            _finder=finder,
            **{name: getattr(core, name) for name in _SAME},
        )

    def __repr__(self) -> str:
        if self.front:
            return f"Result({len(self.front)} candidates on the Pareto front; {self.message}{self._failed()})"
        best = "none" if self.best is None else ", ".join(f"{name}={shown(value)}" for name, value in self.best.items())
        value = "none" if self.value is None else f"{self.value:.6g}"
        violation = f"; violation {self.violation:.6g}: {INFEASIBLE}" if self.violation > 0 else ""
        return f"Result(value={value}, best: {best}{violation}; {self.message}{self._failed()})"

    def _failed(self) -> str:
        return f"; {self.failed} failed, the first: {self.first_failure.splitlines()[0]}" if self.failed else ""

    if not TYPE_CHECKING:  # type checkers shall still report wrong names

        def __getattr__(self, name):
            ours = _ELSEWHERE.get(name)
            raise AttributeError(f"a Result has no {name!r}" + (f"; here it is called {ours!r}" if ours else ""))

    def read(self) -> Evaluations:
        """Returns the evaluations as arrays, in the same form as ``culmen.read``. Without a store, the result contains
        only the latest evaluations, up to 256 MB.

        Raises InputError if there is no store and the result comes from another process.
        """
        if self.store:
            return read(self.store, "run")
        if self._kept is None:
            raise InputError(
                "this result has no evaluations: it comes from another process, and the study has no store; "
                "call minimize(…, store='fit.db')"
            )
        return Evaluations(self._kept)

    def plot(self) -> "plotly.graph_objects.Figure":
        """Returns the convergence as a plotly figure, from the evaluations that ``read`` returns."""
        return self.read().plot()

    def with_evaluations(self, kept: Opened) -> "Result":
        """The result with the evaluations that ``read`` returns if there is no store."""
        return replace(self, _kept=kept)

    @cached_property
    def errors(self) -> Errors:
        """Errors (uncertainties) of the parameters: ``result.errors["tau"].error``. The first use runs further
        evaluations. Under MPI, this works only for a least-squares fit. For other studies, call ``culmen.errors``.
        """
        return self._known_errors or self.find_errors()

    def find_errors(self, **wanted: Any) -> Errors:
        """Computes the errors with the arguments of ``culmen.errors``, for example
        ``result.find_errors(profile=True)``. Under MPI, call ``culmen.errors`` instead.
        """
        if self._lost_errors:
            raise CulmenError(f"this result has no errors: {self._lost_errors}")
        if self._finder is None:
            raise InputError(
                "this result has no errors: it was copied from another process, or it is from MPI and not from "
                "a finished least-squares fit"
            )
        return self._finder(self, **wanted)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_finder": None, "_kept": None}

    @property
    def all_failed(self) -> bool:
        return self.best is None and self.failed > 0


# Names in SciPy, Optuna, pycma and scikit-optimize.
_ELSEWHERE = {
    **dict.fromkeys(("fun", "best_value", "fbest", "cost"), "value"),
    **dict.fromkeys(("best_params", "params", "parameters"), "best"),
    **dict.fromkeys(("nfev", "evals", "n_trials"), "evaluations"),
    **{
        "xbest": "x",
        "best_trials": "front",
        "trials": "read()",
        "x_iters": "read().x",
        "func_vals": "read().values",
        "success": "final",
        "status": "reason",
    },
}


NO_END = ("interrupted", "failure", "all_failed", "set_up", "error")  # reasons of results
_SAME = (
    "optimizer",
    "optimizer_why",
    "generational",
    "remark",
    "reason",
    "message",
    "final",
    "evaluations",
    "failed",
    "retried",
    "lost",
    "workers",
    "team_size",
    "nodes",
    "wall_s",
    "evaluated_s",
    "served_s",
    "present_s",
    "store",
)


class AllFailedError(CulmenError):
    """No evaluation of a study succeeded. The message contains the message of the first failure. The attribute
    ``result`` is the ``culmen.Result`` of the study."""

    __module__ = "culmen"  # where users import it: the traceback shows this name

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message, result)
        self.result = result

    def __str__(self) -> str:
        return str(self.args[0])


def checked(result: Result) -> Result:
    """The result; raises AllFailedError if no evaluation succeeded."""
    if result.all_failed:
        how_many = f"all {result.failed} evaluations" if result.failed > 1 else "the only evaluation"
        raise AllFailedError(f"{how_many} failed; the first: {result.first_failure}", result)
    return result
