"""Computes errors: derivatives at the best candidate, then profiles if requested."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .._core import InputError
from ..problem.goals import direction_of, oriented
from ..problem.space import fixed_names
from . import notes
from .covariance import Covariance, of_hessian, of_residuals
from .derived import Seen, gradient, propagated, seen, why_none
from .differences import curvature, slopes
from .errors import (
    AT_BOUND,
    AT_CONSTRAINT,
    Best,
    Errors,
    Interval,
    NotFiniteError,
    NothingFreeError,
    ParameterError,
    Wanted,
    held_parameters,
    why_nothing_free,
)
from .frame import Array, Evaluate, Frame
from .loss import Loss
from .minimum import Point, Stand, at_walls, stand
from .profile import Profiles, profiles
from .search import End

_OTHER_UNIT, _MANY = (
    0.1,
    5,
)  # with at least as many degrees of freedom, an S below the first: residuals have another unit than their deviations


@dataclass(frozen=True)
class _Scales:
    """For errors of residuals whose standard deviations are unknown."""

    dof: int  # degrees of freedom
    scale: float | None  # the factor S
    sandwich: Array  # NaN without a robust loss

    def scaled(self, error: float | None) -> float | None:
        return error * self.scale if error is not None and self.scale is not None else None


class Fit:
    """Computes errors. ``evaluate`` is called with batches of vectors of the configuration's space."""

    def __init__(self, config: _core.StudyConfig, best: Best, wanted: Wanted, evaluate: Evaluate) -> None:
        self._config, self._best, self._wanted, self._evaluate = config, best, wanted, evaluate
        self._space = config.space
        self._loss = Loss(config.loss_of_residuals)
        self._way = notes.Way(direction_of(config.objectives))
        self._held = held_parameters(config.space, best.x)
        self._notes: list[str] = []
        self._evaluations = 0
        self._near: list[Seen] = []  # for derivatives of derived values
        self._limited = False  # an evaluation violated a limit
        self._r0 = np.array(best.residuals) if best.residuals else None

    def errors(self) -> Errors:
        """Raises NotFiniteError if numbers are too large for this, and InputError if no parameter has an error."""
        try:
            with np.errstate(all="ignore"):
                return self._errors()
        except (ArithmeticError, np.linalg.LinAlgError) as e:
            raise NotFiniteError(f"the errors could not be computed: {str(e) or type(e).__name__}") from e

    def _errors(self) -> Errors:
        point, up = self._derivatives(), self._wanted.up
        stands = stand(point, up)
        of_stand = notes.of_stand(stands, up, self._way, self._limited)
        covariance = self._covariance(point, list(stands.normals.values()))
        scales = self._scales(point, covariance)
        derived = self._derived(point, covariance, scales)
        found = self._profiles(point, covariance) if self._wanted.profile else Profiles({})
        given = self._given(found.lower_minimum[1]) if found.lower_minimum else None
        self._notes += notes.of_profiles(found, self._space, given, self._way)
        self._notes += notes.of_directions(covariance, self._r0 is None, self._way)
        self._notes += of_stand
        return self._result(point, covariance, scales, found, stands, derived)

    def _batch(self, vectors: list[list[float]]) -> Any:
        self._evaluations += len(vectors)
        outcomes = self._evaluate(vectors)
        self._near += seen(vectors, outcomes)
        self._limited |= any(outcome.violation > 0 for outcome in outcomes)
        return outcomes

    def _derivatives(self) -> Point:
        """For the free parameters. Those whose evaluations fail, or that only a bound stops, are then held fixed."""
        space = self._space
        moved = tuple(i for i, p in enumerate(space.parameters) if p.name not in self._held)
        if not moved:
            raise self._nothing_free()
        frame = Frame(space, tuple(self._best.x), moved)
        if self._r0 is not None:
            found = slopes(self._batch, frame, self._r0, len(self._r0))
            j, r = found.jacobian, self._r0
            derivatives = self._loss.gradient(j, r), self._loss.hessian(j, r)
            point = Point(frame, self._best.cost, *derivatives, found.roughness, j)
            failures = found.failures
        else:
            curves = curvature(self._batch, frame, self._best.cost, self._wanted.up)
            point = Point(frame, self._best.cost, curves.gradient, curves.hessian, curves.doubt)
            failures = curves.failures
        point = self._without_failures(point, failures)
        if point.jacobian is not None:
            self._notes += notes.of_roughness(point.frame.names, point.roughness)
        return self._without_walls(point)

    def _covariance(self, point: Point, normals: list[Array]) -> Covariance:
        names, up = point.frame.names, self._wanted.up
        if point.jacobian is None or self._r0 is None:
            return of_hessian(point.hessian, names, up, point.roughness, normals)
        return of_residuals(point.jacobian, self._r0, self._loss.core, names, point.roughness, normals)

    def _without_failures(self, point: Point, failures: dict[str, str]) -> Point:
        for name, why in failures.items():
            self._held[name] = f"no derivative ({why}), held fixed"
        kept = [k for k, name in enumerate(point.frame.names) if name not in failures]
        if not kept:
            raise InputError(
                f"no derivative could be computed: {'; '.join(f'{n}: {why}' for n, why in failures.items())}"
            )
        return point.part(kept)

    def _without_walls(self, point: Point) -> Point:
        for name, word in at_walls(point, self._wanted.up).items():
            self._held[name] = f"{AT_BOUND} ({word}), held fixed"
        kept = [k for k, name in enumerate(point.frame.names) if name not in self._held]
        if not kept:
            raise self._nothing_free()
        return point.part(kept)

    def _nothing_free(self) -> InputError:
        return NothingFreeError(why_nothing_free(self._held))

    def _profiles(self, point: Point, covariance: Covariance) -> Profiles:
        """For all active real parameters: those at bounds may leave them."""
        space, up, frame = self._space, self._wanted.up, point.frame
        gradient, hessian = point.gradient, point.hessian
        alone = 0.1 * frame.span
        scale = np.where(np.isfinite(covariance.errors), covariance.errors, alone)
        whole = Frame(space, frame.x, tuple(i for i in range(len(space)) if self._may_leave(i)))
        if len(whole.moved) > len(frame.moved):
            gradient, hessian, scale = self._widened(whole, frame, gradient, hessian, scale)
        reach = self._wanted.reach
        model = (self._best.cost, gradient, hessian)
        return profiles(self._batch, whole, scale, model, up * reach**2, reach, len(self._best.residuals), self._loss)

    def _may_leave(self, i: int) -> bool:
        name = self._space.parameters[i].name
        return name not in self._held or self._held[name].startswith(AT_BOUND)

    def _widened(
        self, whole: Frame, frame: Frame, gradient: Array, hessian: Array, scale: Array
    ) -> tuple[Array, Array, Array]:
        """With the parameters at bounds, whose derivatives use points inside."""
        n = len(whole.moved)
        at = [whole.moved.index(i) for i in frame.moved]
        beside = [k for k in range(n) if k not in at]
        size = 0.1 * whole.span
        size[at] = scale
        if self._r0 is None:
            inward = Frame(self._space, whole.x, tuple(whole.moved[k] for k in beside))
            g, h = np.zeros(n), np.diag(2 * self._wanted.up / size**2)
            g[beside] = np.nan_to_num(slopes(self._batch, inward, np.array([self._best.cost]), 0).jacobian[0])
            g[at], h[np.ix_(at, at)] = gradient, hessian
            return g, h, size
        found = slopes(self._batch, whole, self._r0, len(self._r0))
        j = np.nan_to_num(found.jacobian)
        length = np.linalg.norm(j, axis=0)
        size[beside] = np.minimum(size, 1 / np.maximum(length, 1e-300))[beside]
        return self._loss.gradient(j, self._r0), self._loss.convex_hessian(j, self._r0), size

    def _result(
        self,
        point: Point,
        covariance: Covariance,
        scales: _Scales,
        found: Profiles,
        stands: Stand,
        derived: list[ParameterError],
    ) -> Errors:
        frame = point.frame
        slope = frame.slope(frame.start)
        matrix = covariance.matrix * np.outer(slope, slope)
        of_sandwich = np.sqrt(np.diag(scales.sandwich)) * slope
        sandwich = dict(zip(frame.names, of_sandwich, strict=True))
        errors = dict(zip(frame.names, np.sqrt(np.diag(matrix)), strict=True))
        why = self._remarks(frame, covariance, stands, scales.scale)
        rows = []
        for name, value in self._space.named(self._best.x).items():
            error, ends, note = _finite(errors.get(name)), found.ends.get(name), why.get(name, "")
            interval = _interval(*ends) if ends else None
            scaled, robust = scales.scaled(error), _finite(sandwich.get(name))
            rows.append(ParameterError(name, value, error, scaled, interval, note, robust))
        return Errors(
            parameters=rows,
            free=[name for name in frame.names if _finite(errors[name]) is not None],
            covariance=_kept(matrix),
            correlation=_kept(covariance.correlation),
            value=self._given(self._best.cost),
            up=self._wanted.up,
            residuals=len(self._best.residuals),
            dof=scales.dof,
            distance=stands.distance,
            evaluations=self._evaluations,
            evaluation=self._best.evaluation,
            confidence=self._wanted.confidence if self._wanted.profile else None,
            notes=self._notes,
            lower_minimum=self._space.named(found.lower_minimum[0]) if found.lower_minimum else None,
            maximized=self._way.maximized,
            loss=self._config.loss,
            f_scale=self._config.f_scale,
            derived=derived,
        )

    def _derived(self, point: Point, covariance: Covariance, scales: _Scales) -> list[ParameterError]:
        """Those that are neither residuals nor objectives."""
        out = []
        for name, _ in self._config.derived:
            value = self._best.extras.get(name)
            if value is None:
                continue
            slopes_of_it = gradient(name, value, point.frame, self._near)
            error = propagated(slopes_of_it, covariance.matrix)
            robust = propagated(slopes_of_it, scales.sandwich) if self._loss.robust and scales.dof else None
            why = "" if error is not None else f"; {why_none(value, slopes_of_it, covariance.matrix)}"
            out.append(ParameterError(name, value, error, scales.scaled(error), None, f"derived{why}", robust))
        return out

    def _scales(self, point: Point, covariance: Covariance) -> _Scales:
        count = len(self._best.residuals)
        dof = covariance.core.dof(count)
        scale = math.sqrt(self._best.cost / dof) if count and dof and not self._loss.robust else None
        if point.jacobian is None or self._r0 is None:
            return _Scales(dof, scale, np.full_like(covariance.matrix, np.nan))
        return _Scales(dof, scale, _core.sandwich(covariance.core, point.jacobian, self._r0, self._loss.core))

    def _remarks(self, frame: Frame, covariance: Covariance, stands: Stand, scale: float | None) -> dict[str, str]:
        """By parameter: why it has no error, or a problem of its error."""
        out = dict(self._held)
        room = np.maximum(frame.upper - frame.start, frame.start - frame.lower)
        other_unit = scale is not None and scale < _OTHER_UNIT and len(self._best.residuals) >= _MANY + len(frame.names)
        size = covariance.errors * (scale if other_unit and scale else 1.0)
        wide = [name for name, e, r in zip(frame.names, size, room, strict=True) if e > r]
        self._notes += notes.of_wide(wide, self._wanted.profile)
        out |= dict.fromkeys(wide, "wider than its bounds")
        for name, error in zip(frame.names, covariance.errors, strict=True):
            if not math.isfinite(error):
                out[name] = "not determined"
        out |= dict.fromkeys(fixed_names(self._space), "fixed")
        out |= dict.fromkeys(covariance.fixed, f"{AT_CONSTRAINT} {' and '.join(stands.normals)}, held fixed")
        return out

    def _given(self, cost: float) -> float:
        return oriented(cost, self._way.direction)


def _finite(figure: float | None) -> float | None:
    return float(figure) if figure is not None and math.isfinite(figure) else None


def _kept(matrix: Array) -> list[list[float]]:
    known = np.isfinite(np.diag(matrix))
    out: list[list[float]] = matrix[np.ix_(known, known)].tolist()
    return out


def _interval(lower: End, upper: End) -> Interval:
    return Interval(lower.value, upper.value, lower.note, upper.note)
