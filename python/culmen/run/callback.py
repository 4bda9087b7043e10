"""A program's function that is called with each evaluation of a running study."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from .. import _core
from .._core import InputError
from ..problem.given import Value
from ..problem.goals import as_given
from ..problem.outcome import Outcome
from ..slot.signature import misfit
from ..store.opening import Opened
from .result import NO_END, Result

_AT_ONCE = 1000
_ELSEWHERE = {
    "fun": "value",
    "nfev": "evaluations",
    "user_attrs": "extras",
    "state": "status",
    "duration": "duration_s",
    **dict.fromkeys(("number", "id", "trial_id"), "evaluation"),
}


@dataclass(frozen=True)
class Evaluated(Outcome):
    """An evaluation of a running study, and the best one so far."""

    evaluation: int  #: number of the evaluation, from 0
    params: dict[str, Value]  #: the parameters by name, without inactive parameters
    x: list[float]  #: the parameters as numbers, in the order of the space
    evaluations: int  #: number of evaluations so far
    best: dict[str, Value] | None  #: the best parameters so far; None if no evaluation has succeeded
    best_value: float | None  #: the best value so far

    if not TYPE_CHECKING:  # type checkers shall still report wrong names

        def __getattr__(self, name):
            ours, names = _ELSEWHERE.get(name), ", ".join(field.name for field in fields(self))
            has = f"here it is called {ours!r}" if ours else f"it has {names}"
            raise AttributeError(f"an evaluation has no {name!r}; {has}")


class Callback:
    """Calls ``function`` on the thread that waits for the run."""

    def __init__(self, function: Callable[[Evaluated], Any], config: _core.StudyConfig) -> None:
        if not callable(function):
            raise InputError(f"culmen.minimize: callback must be a function, got {function!r}")
        if why := misfit(function, "p.value"):
            raise InputError(f"culmen.minimize: callback: {why}")
        self._function, self._config = function, config
        self._next = 0
        self._merit = (math.inf, math.inf)  # violation and value of the best
        self._best: dict[str, Value] | None = None
        self._best_value: float | None = None
        self.stopped = False

    def resume(self, opened: Opened) -> None:
        """Takes the best evaluation so far from the store of a resumed study."""
        best, value = opened.summary["best"], opened.summary["best_value"]
        if best is not None and value is not None:
            (row,) = opened.store.outcomes(opened.summary["best_evaluation"], 1)
            self._merit = (row["violation"], value)
            self._keep(best, value)

    def ended(self, result: Result) -> Result:
        """The result, which says if the function stopped the study, even if the study had ended before."""
        if not self.stopped or result.reason in (*NO_END, "callback"):
            return result
        return replace(
            result, reason="callback", message=f"stopped by the callback; the study had already ended: {result.message}"
        )

    def see(self, run: _core.Run, done: bool) -> bool:
        """Calls the function with each evaluation since the last look, or with at most 1000 of them while the run is
        not done. Returns True if the study must stop."""
        history = run.history
        assert history is not None
        progress = run.progress()  # read once: the run continues meanwhile
        before = progress.evaluations - progress.evaluations_here
        while not self.stopped and (rows := history.told(self._next, _AT_ONCE)):
            for row in rows:
                self._next = row.pop("number") + 1
                if self._call(row, before + self._next):
                    self.stopped = True
                    break
            if not done:
                break
        return self.stopped

    def _call(self, row: dict[str, Any], count: int) -> bool:
        x = row["x"]
        merit = (row["violation"], row["value"])
        if row["status"] == "ok" and merit < self._merit:
            self._merit = merit
            self._keep(x, row["value"])
        space = self._config.space
        about = {"evaluation": row["evaluation"], "x": space.spread(x), "params": space.named(x), "evaluations": count}
        best = {"best": self._best, "best_value": self._best_value}
        try:
            returned = self._function(Evaluated.of(row, self._config.objectives, **about, **best))
        except StopIteration:
            return True
        return type(returned).__name__ in ("bool", "bool_") and bool(returned)  # NumPy has its own

    def _keep(self, x: list[float], value: float) -> None:
        self._best = self._config.space.named(x)
        self._best_value = as_given(value, self._config.objectives)
