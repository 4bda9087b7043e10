"""Fits again with some parameters fixed, before the errors of the others are computed."""

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass

from .. import _core
from .._core import InputError
from ..base.text import shown
from ..fit.errors import Best
from ..problem.given import Value
from ..problem.goals import direction_of, oriented
from ..problem.space import fixing
from .evaluations import CandidateEvaluator

_SAME = 1e-3  # of the increase over one error: smaller improvements do not count
_ROUNDS = 5  # of differences without an improvement end the search


@dataclass(frozen=True)
class Refit:
    """A study with fixed parameters. ``start``: its best candidate with the fixed values, at which the fit of the other
    parameters begins."""

    config: _core.StudyConfig
    names: list[str]  # of the fixed parameters
    fixed: str  # in words
    start: list[float]
    former: Best  # of the study

    def best(self, evaluate: CandidateEvaluator, up: float) -> Best:
        """The best candidate with the fixed parameters. Raises InputError if none can be evaluated."""
        space = self._of_reals()
        n = len(space)
        residuals = bool(self.former.residuals) and self.config.loss == "linear"
        search = _core.Optimizer(
            space,
            "lm" if residuals else "bfgs",
            1,
            {"screen": 1, "descents": 1},
            [space.searched(self.config.space.spread(self.start))],
            residuals,
        )
        found, since = Best(self.start, math.inf, []), 0
        while since < _ROUNDS * (n + 2) and not search.finished and (asked := search.ask(n + 1)):
            vectors = [self.config.space.searched(space.spread(x)) for _, x in asked]
            for (number, _), x, outcome in zip(asked, vectors, evaluate(vectors), strict=True):
                is_allowed = outcome.ok and not outcome.violation > 0
                told = (outcome.residuals if residuals else outcome.cost) if is_allowed else None
                search.tell(number, told, residuals)
                since = 0 if is_allowed and outcome.cost < found.cost - _SAME * up else since + 1
                if is_allowed and outcome.cost < found.cost:
                    found = Best(x, outcome.cost, list(outcome.residuals), extras=outcome.extras)
        if math.isinf(found.cost):
            raise InputError(f"with {self.fixed}, no evaluation succeeded, so there are no errors")
        return found

    def note(self, found: Best) -> str:
        way = direction_of(self.config.objectives)
        now, before = (oriented(cost, way) for cost in (found.cost, self.former.cost))
        sentence = f"with {self.fixed}, the best value is {now:.10g}; at the study's best candidate it is {before:.10g}"
        without = [name for name in self.names if name not in self.config.space.named(found.x)]
        if not without:
            return sentence
        one = len(without) == 1
        are, them = ("is", "it") if one else ("are", "them")
        return f"{sentence}; {' and '.join(without)} {are} inactive there, so fixing {them} had no effect"

    def _of_reals(self) -> _core.Space:
        """The space of the real parameters. All others keep their values, as they do for errors. Initial values are
        those of ``start``, at which the search begins: a parameter without a bound needs one."""
        space = self.config.space
        named = space.named(self.start)
        parameters = space.all
        for p in parameters:
            if p.fixed is None:
                p.initial = named[p.name] if math.isinf(p.upper - p.lower) else None
                if p.kind != "real" and p.name in named:
                    p.fixed = named[p.name]
        return _core.Space(parameters, space.constraints)


def refit_of(config: _core.StudyConfig, best: Best, fix: Mapping[str, Value]) -> Refit:
    """Raises InputError for a parameter or a value that does not exist."""
    held = copy.copy(config)
    held.space = fixing(config.space, fix)
    held.starts = []
    whole = config.space.spread(best.x)
    for i, (p, number) in enumerate(zip(held.space.all, held.space.spread(held.space.start()), strict=True)):
        whole[i] = number if p.fixed is not None else whole[i]
    fixed = ", ".join(f"{p.name} fixed at {shown(p.fixed)}" for p in held.space.all if p.name in fix)
    return Refit(held, list(fix), fixed, held.space.searched(whole), best)
