"""How errors are found: derivatives at the best candidate, then profiles where they are wanted."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .._core import InputError
from ..goals import as_given
from .covariance import Covariance, of_hessian, of_jacobian
from .differences import curvature, slopes
from .errors import AT_BOUND, Best, Errors, Interval, ParameterError, Wanted, held_parameters
from .frame import Array, Evaluate, Frame
from .parabola import Box, Parabola, best_step
from .profile import End, Profiles, profiles

_FAR = 0.01  # of Δ: the best candidate is this far above the minimum that its derivatives point to
_UNCERTAIN = 0.03
_BESIDE = 0.01  # of its error: a parameter so near a bound, and drawn there, is at it


@dataclass
class _Point:
    """Derivatives at the best candidate, by the frame's coordinates; of residuals with their Jacobian."""

    frame: Frame
    gradient: Array
    hessian: Array
    roughness: Array  # of the Jacobian's columns; of values the Hessian's doubt: see Slopes and Curvature
    jacobian: Array | None = None

    def part(self, kept: list[int]) -> "_Point":
        """By some of the parameters."""
        frame = Frame(self.frame.space, self.frame.x, tuple(self.frame.moved[k] for k in kept))
        gradient, hessian = self.gradient[kept], self.hessian[np.ix_(kept, kept)]
        if self.jacobian is None:
            return _Point(frame, gradient, hessian, self.roughness[np.ix_(kept, kept)])
        return _Point(frame, gradient, hessian, self.roughness[kept], self.jacobian[:, kept])

    def sizes(self, up: float) -> Array:
        """Each parameter's error where all others stay."""
        curved = np.diag(self.hessian)
        span = self.frame.upper - self.frame.lower
        return np.where(curved > 0, np.sqrt(2 * up / np.where(curved > 0, curved, 1.0)), 0.1 * span)


class Fit:
    """Finds errors: ``evaluate`` is called with batches of vectors of the configuration's space."""

    def __init__(self, config: _core.StudyConfig, best: Best, wanted: Wanted, evaluate: Evaluate) -> None:
        self._config, self._best, self._wanted, self._evaluate = config, best, wanted, evaluate
        self._space = config.space
        self._held = held_parameters(config.space, best.x)
        self._notes: list[str] = []
        self._evaluations = 0
        self._r0 = np.array(best.residuals) if best.residuals else None

    def errors(self) -> Errors:
        point = self._derivatives()
        covariance = self._covariance(point)
        found = self._profiles(point, covariance) if self._wanted.profile else Profiles({})
        self._note_directions(covariance)
        return self._result(point, covariance, found)

    def _batch(self, vectors: list[list[float]]) -> Any:
        self._evaluations += len(vectors)
        return self._evaluate(vectors)

    def _derivatives(self) -> "_Point":
        """By the parameters that are not held; those whose evaluations fail, or whom only a wall stops, become held."""
        space = self._space
        moved = tuple(i for i, p in enumerate(space.parameters) if p.name not in self._held)
        if not moved:
            raise InputError(f"no parameter is free: {', '.join(f'{n}: {why}' for n, why in self._held.items())}")
        frame = Frame(space, tuple(self._best.x), moved)
        if self._r0 is not None:
            found = slopes(self._batch, frame, self._r0)
            j = found.jacobian
            point = _Point(frame, 2 * j.T @ self._r0, 2 * j.T @ j, found.roughness, j)
            failures = found.failures
        else:
            curves = curvature(self._batch, frame, self._best.cost, self._wanted.up)
            point = _Point(frame, curves.gradient, curves.hessian, curves.doubt)
            failures = curves.failures
        point = self._without_failures(point, failures)
        if point.jacobian is not None:
            self._note_roughness(point)
        return self._without_walls(point)

    def _covariance(self, point: "_Point") -> Covariance:
        if point.jacobian is None:
            return of_hessian(point.hessian, point.frame.names, self._wanted.up, point.roughness)
        return of_jacobian(point.jacobian, point.frame.names, point.roughness)

    def _without_failures(self, point: "_Point", failures: dict[str, str]) -> "_Point":
        for name, why in failures.items():
            self._held[name] = f"no derivative ({why}), held fixed"
        kept = [k for k, name in enumerate(point.frame.names) if name not in failures]
        if not kept:
            raise InputError(f"no derivative could be taken: {'; '.join(f'{n}: {why}' for n, why in failures.items())}")
        return point.part(kept)

    def _without_walls(self, point: "_Point") -> "_Point":
        """Without the parameters that are as good as at a bound, beyond which the value would fall."""
        u, frame = point.frame.start, point.frame
        size = point.sizes(self._wanted.up)
        kept = []
        for k, name in enumerate(frame.names):
            wall, word = (frame.lower[k], "lower") if point.gradient[k] > 0 else (frame.upper[k], "upper")
            if abs(wall - u[k]) < _BESIDE * min(size[k], frame.upper[k] - frame.lower[k]):
                self._held[name] = f"{AT_BOUND} ({word}), held fixed"
            else:
                kept.append(k)
        if not kept:
            raise InputError(f"no parameter is free: {', '.join(f'{n}: {why}' for n, why in self._held.items())}")
        return point.part(kept)

    def _note_roughness(self, point: "_Point") -> None:
        finite = [(r, name) for r, name in zip(point.roughness, point.frame.names, strict=True) if r < math.inf]
        rough = [name for r, name in finite if r > _UNCERTAIN]
        if rough:
            self._notes.append(
                f"the evaluator's figures are rough or strongly curved along {', '.join(rough)}: "
                f"the errors may be wrong by up to {max(finite)[0]:.0%}"
            )

    def _note_directions(self, covariance: Covariance) -> None:
        for names in covariance.undetermined:
            what = (
                f"{names[0]}: nothing depends on it"
                if len(names) == 1
                else (
                    f"{' and '.join([', '.join(names[:-1]), names[-1]])} apart: "
                    f"nothing depends on one combination of them"
                )
            )
            self._notes.append(f"the data do not determine {what}")
        for names in covariance.negative:
            self._notes.append(f"this is no minimum: the value falls along a direction of {', '.join(names)}")

    def _distance(self, point: "_Point") -> float:
        """As Minuit's EDM, but within the bounds."""
        frame, up = point.frame, self._wanted.up
        size = point.sizes(up)
        u = np.zeros(len(size))
        box = Box((frame.lower - frame.start) / size, (frame.upper - frame.start) / size)
        parabola = Parabola(u, self._best.cost, point.gradient * size, point.hessian * np.outer(size, size))
        distance = max(0.0, parabola.gain(best_step(parabola, box)))
        if distance > _FAR * up:
            self._notes.append(
                f"the fit is not at its minimum: by the derivatives that is about {distance:.2g} below; "
                f"more evaluations would come nearer"
            )
        return distance

    def _profiles(self, point: "_Point", covariance: Covariance) -> Profiles:
        """Over all active real parameters: those at bounds may leave them."""
        space, up, frame = self._space, self._wanted.up, point.frame
        gradient, hessian = point.gradient, point.hessian
        scale = np.where(np.isfinite(covariance.errors), covariance.errors, 0.1 * (frame.upper - frame.lower))
        whole = Frame(space, frame.x, tuple(i for i in range(len(space)) if self._may_leave(i)))
        if len(whole.moved) > len(frame.moved):
            gradient, hessian, scale = self._widened(whole, frame, gradient, hessian, scale)
        reach = self._wanted.reach
        found = profiles(
            self._batch, whole, scale, (self._best.cost, gradient, hessian), up * reach**2, reach, len(self._best.residuals)
        )
        if found.lower_minimum:
            vector, cost = found.lower_minimum
            place = ", ".join(
                f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}"
                for name, value in space.named(vector).items()
            )
            self._notes.append(f"the fit was not at the minimum: the profiles met {self._given(cost):.10g} at {place}")
        return found

    def _may_leave(self, i: int) -> bool:
        name = self._space.parameters[i].name
        return name not in self._held or self._held[name].startswith(AT_BOUND)

    def _widened(
        self, whole: Frame, frame: Frame, gradient: Array, hessian: Array, scale: Array
    ) -> tuple[Array, Array, Array]:
        """With the parameters at bounds, whose derivatives are taken inward."""
        n = len(whole.moved)
        at = [whole.moved.index(i) for i in frame.moved]
        beside = [k for k in range(n) if k not in at]
        size = 0.1 * (whole.upper - whole.lower)
        size[at] = scale
        if self._r0 is None:
            g, h = np.zeros(n), np.diag(2 * self._wanted.up / size**2)
            inward = Frame(self._space, whole.x, tuple(whole.moved[k] for k in beside))
            rises = self._inward_rises(inward)
            g[beside] = rises
            g[at], h[np.ix_(at, at)] = gradient, hessian
            return g, h, size
        found = slopes(self._batch, whole, np.asarray(self._r0))
        j = np.nan_to_num(found.jacobian)
        length = np.linalg.norm(j, axis=0)
        size[beside] = np.minimum(size, 1 / np.maximum(length, 1e-300))[beside]
        return 2 * j.T @ self._r0, 2 * j.T @ j, size

    def _inward_rises(self, frame: Frame) -> Array:
        u, span = frame.start, frame.upper - frame.lower
        steps = np.where(u - frame.lower < frame.upper - u, 1e-4, -1e-4) * span
        points = [u + step * np.eye(len(u))[k] for k, step in enumerate(steps)]
        outcomes = self._batch([frame.vector(point) for point in points])
        rises = np.array([o.cost - self._best.cost for o in outcomes])
        return np.where(np.isfinite(rises), rises, 0.0) / steps

    def _result(self, point: "_Point", covariance: Covariance, found: Profiles) -> Errors:
        frame, distance = point.frame, self._distance(point)
        slope = frame.slope(frame.start)
        matrix = covariance.matrix * np.outer(slope, slope)
        count = len(self._best.residuals)
        dof = max(count - covariance.rank, 0)
        scale = math.sqrt(self._best.cost / dof) if count and dof else None
        named = self._space.named(self._best.x)
        errors = dict(zip(frame.names, np.sqrt(np.diag(matrix)), strict=True))
        rows = []
        for name, value in named.items():
            error = _finite(errors.get(name))
            note = self._held.get(name, "" if error is not None else "not determined")
            ends = found.ends.get(name)
            scaled = error * scale if error is not None and scale is not None else None
            rows.append(ParameterError(name, value, error, scaled, _interval(*ends) if ends else None, note))
        return Errors(
            parameters=rows,
            free=[name for name in frame.names if _finite(errors[name]) is not None],
            covariance=_kept(matrix),
            correlation=_kept(covariance.correlation),
            value=self._given(self._best.cost),
            up=self._wanted.up,
            residuals=count,
            dof=dof,
            distance=distance,
            evaluations=self._evaluations,
            evaluation=self._best.evaluation,
            confidence=self._wanted.confidence if self._wanted.profile else None,
            notes=self._notes,
            lower_minimum=self._space.named(found.lower_minimum[0]) if found.lower_minimum else None,
        )

    def _given(self, cost: float) -> float:
        return as_given(cost, self._config.objectives)


def _finite(figure: float | None) -> float | None:
    return float(figure) if figure is not None and math.isfinite(figure) else None


def _kept(matrix: Array) -> list[list[float]]:
    known = np.isfinite(np.diag(matrix))
    out: list[list[float]] = matrix[np.ix_(known, known)].tolist()
    return out


def _interval(lower: End, upper: End) -> Interval:
    return Interval(lower.value, upper.value, lower.note, upper.note)
