"""Fits whose errors the tests look at, evaluated here and now."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from culmen.fit.errors import Best, Errors, Wanted
from culmen.fit.finding import Fit
from culmen.problem.outcome import Outcome
from culmen.problem.space import Space

from culmen import _core, real

DATA = Path(__file__).parent.parent / "data" / "nist_strd"
exp = np.exp
MODELS = {
    "Misra1a": lambda b, x: b[0] * (1 - exp(-b[1] * x)),
    "BoxBOD": lambda b, x: b[0] * (1 - exp(-b[1] * x)),
    "Eckerle4": lambda b, x: b[0] / b[1] * exp(-0.5 * ((x - b[2]) / b[1]) ** 2),
    "Rat43": lambda b, x: b[0] / (1 + exp(b[1] - b[2] * x)) ** (1 / b[3]),
    "Thurber": lambda b, x: (b[0] + b[1] * x + b[2] * x**2 + b[3] * x**3) / (1 + b[4] * x + b[5] * x**2 + b[6] * x**3),
    "MGH10": lambda b, x: b[0] * exp(b[1] / (x + b[2])),
    "Bennett5": lambda b, x: b[0] * (b[1] + x) ** (-1 / b[2]),
}
DECAY = {"a": (0.01, 100), "b": (0.01, 100)}


def decay(p):
    """Without noise; the best is a = 2.5, b = 1.3."""
    return [p["a"] * math.exp(-p["b"] * t) - 2.5 * math.exp(-1.3 * t) for t in range(6)]


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
    loss: str = "linear"
    f_scale: float = 1.0

    def outcome(self, x: Sequence[float]) -> Outcome:
        try:
            with np.errstate(all="ignore"):
                r = [float(v) for v in self.residuals(x)]
        except ArithmeticError as e:
            return failed(str(e))
        if not all(map(math.isfinite, r)):
            return failed("a residual is not finite")
        cost = self.factor * self.config().loss_of_residuals.value(r)
        return Outcome("ok", cost, {}, self.violation(x), [] if self.as_value else r, {}, "", 0.0, cost)

    def evaluate(self, vectors: list[list[float]]) -> list[Outcome]:
        self.calls += vectors
        return [self.outcome(x) for x in vectors]

    def config(self) -> _core.StudyConfig:
        config = _core.StudyConfig()
        config.space, config.objectives = self.space.core, self.objectives
        config.loss, config.f_scale = self.loss, self.f_scale
        return config

    def errors(self, x: Sequence[float], **wanted: object) -> Errors:
        config = self.config()
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


def certified(name: str) -> tuple[Sample, np.ndarray, np.ndarray]:
    """The set as a sample, its certified parameters and their certified standard deviations."""
    lines = (DATA / f"{name}.dat").read_text().splitlines()
    figures = np.array([line.split("=")[1].split() for line in lines[40:60] if re.match(r"\s*b\d+ =", line)], float)
    first, last = map(int, re.search(r"Data\s+\(lines (\d+) to (\d+)\)", "\n".join(lines[:12])).groups())
    y, x = np.array([line.split() for line in lines[first - 1 : last]], float).T
    b, deviations = figures[:, 2], figures[:, 3]
    space = Space([real(v - 9 * abs(v), v + 11 * abs(v)) for v in b])
    return Sample(space, lambda p: MODELS[name](p, x) - y), b, deviations


def certified_x(name: str) -> np.ndarray:
    lines = (DATA / f"{name}.dat").read_text().splitlines()[60:]
    return np.array([line.split()[1] for line in lines if line.strip()], float)


def line(**more: object) -> Sample:
    """y = a + b x with a third parameter that something may be done with."""
    x, y = np.arange(5.0), np.array([1.0, 2.9, 5.2, 6.8, 9.1])
    return Sample(Space({"a": (-10, 10), "b": (-10, 10), **more}), lambda p: p[0] + p[1] * x - y)


LINE_X = np.linspace(0, 1, 20)


def sloped(x):
    return (x[0] + x[1] * LINE_X - 3 - 2 * LINE_X + 0.01 * np.cos(7 * LINE_X)) / 0.1


ROOM = {  # distance from the bound of each constraint
    "a + b <= 2.5": lambda a, b: 2.5 - a - b,
    "a + b <= 3.2": lambda a, b: 3.2 - a - b,
    "a * a + b * b <= 4": lambda a, b: 4 - a * a - b * b,
    "a <= 0.5": lambda a, b: 0.5 - a + 0 * b,
}


def at_constraint(constraint: str, as_value: bool = False) -> tuple[Sample, list[float]]:
    """The line y = a + b x at its best within a constraint of a and b, and that candidate, by SciPy."""
    from scipy.optimize import minimize

    plain = line()
    space = Space({"a": (-10, 10), "b": (-10, 10)}, {"wall": constraint})
    kept = {"type": "ineq", "fun": lambda p: ROOM[constraint](*p) - 1e-9}
    found = minimize(lambda p: plain.outcome(p).cost, [0, 1], constraints=kept, method="SLSQP", tol=1e-14)
    return Sample(space, plain.residuals, as_value=as_value), [float(v) for v in found.x]
