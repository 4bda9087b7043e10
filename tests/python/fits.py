"""Fits whose errors the tests look at, evaluated here and now."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from culmen.fit.errors import Best, Errors, Wanted
from culmen.fit.finding import Fit
from culmen.problem.outcome import Outcome
from culmen.problem.space import Space

from culmen import _core


@dataclass
class Sample:
    """A study of residuals, or of their sum of squares, without workers."""

    space: Space
    residuals: Callable[[Sequence[float]], Sequence[float]]
    as_value: bool = False
    factor: float = 1.0  # of the value
    objectives: list[tuple[str, str]] = field(default_factory=list)
    calls: list[list[float]] = field(default_factory=list)
    violation: Callable[[Sequence[float]], float] = lambda x: 0.0  # of limits

    def outcome(self, x: Sequence[float]) -> Outcome:
        try:
            with np.errstate(all="ignore"):
                r = [float(v) for v in self.residuals(x)]
        except ArithmeticError as e:
            return failed(str(e))
        if not all(map(math.isfinite, r)):
            return failed("a residual is not finite")
        cost = self.factor * sum(v * v for v in r)
        return Outcome("ok", cost, {}, self.violation(x), [] if self.as_value else r, {}, "", 0.0, cost)

    def evaluate(self, vectors: list[list[float]]) -> list[Outcome]:
        self.calls += vectors
        return [self.outcome(x) for x in vectors]

    def errors(self, x: Sequence[float], **wanted: object) -> Errors:
        config = _core.StudyConfig()
        config.space = self.space.core
        config.objectives = self.objectives
        best = self.outcome(x)
        return Fit(config, Best(list(x), best.cost, best.residuals, 7), Wanted(**wanted), self.evaluate).errors()


def failed(message: str) -> Outcome:
    return Outcome("not finite", None, {}, 0.0, [], {}, message, 0.0, math.inf)


def fit(sample: Sample, start: Sequence[float]) -> list[float]:
    """SciPy's best point within the bounds."""
    from scipy.optimize import least_squares

    parameters = sample.space.core.parameters
    box = [p.lower for p in parameters], [p.upper for p in parameters]
    tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "x_scale": "jac"}
    return [float(v) for v in least_squares(sample.residuals, start, bounds=box, **tight).x]


def rise_at(sample: Sample, x: Sequence[float], i: int, t: float) -> float:
    """By how much the least sum of squares within the bounds has risen where parameter i is t, by SciPy."""
    from scipy.optimize import least_squares

    box = np.delete([[p.lower, p.upper] for p in sample.space.core.parameters], i, axis=0).T
    starts = (np.clip(np.delete(x, i), *box), box.mean(axis=0), 0.9 * box[0] + 0.1 * box[1])
    tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "x_scale": "jac"}
    found = [least_squares(lambda z: sample.residuals(np.insert(z, i, t)), z, bounds=box, **tight) for z in starts]
    return 2 * min(f.cost for f in found) - sum(v * v for v in sample.residuals(x))


def brute_end(sample: Sample, x: Sequence[float], i: int, side: int, delta: float = 1.0) -> float:
    """Where the least sum of squares over all other parameters has risen by delta, by SciPy."""
    from scipy.optimize import brentq, least_squares

    x, lowest = np.asarray(x), sum(v * v for v in sample.residuals(x))

    def rise(t: float) -> float:
        def others(z: Sequence[float]) -> Sequence[float]:
            return sample.residuals(np.insert(z, i, t))

        tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "x_scale": "jac"}
        return 2 * least_squares(others, np.delete(x, i), **tight).cost - lowest - delta

    far = side * 1e-3 * abs(x[i])
    while rise(x[i] + far) < 0:
        far *= 1.5
    return float(brentq(rise, x[i], x[i] + far, xtol=1e-12 * abs(x[i])))
