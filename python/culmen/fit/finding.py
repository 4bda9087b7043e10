"""How errors are found: derivatives at the best candidate, then profiles where they are wanted."""

import math
from typing import Any

import numpy as np

from .. import _core
from .._core import InputError
from ..goals import as_given
from .covariance import Covariance, of_hessian, of_jacobian
from .differences import curvature, slopes
from .errors import AT_BOUND, Best, Errors, Interval, ParameterError, Wanted, held_parameters
from .frame import Array, Evaluate, Frame
from .profile import End, Profiles, profiles

_FAR = 0.01  # of Δ: the best candidate is this far above the minimum that its derivatives point to
_UNCERTAIN = 0.03


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
        frame, gradient, hessian, covariance = self._derivatives()
        found = Profiles({}, 0)
        if self._wanted.profile:
            found = self._profiles(frame, gradient, hessian, covariance)
        self._note_directions(covariance)
        return self._result(frame, covariance, self._distance(gradient, covariance), found)

    def _batch(self, vectors: list[list[float]]) -> Any:
        self._evaluations += len(vectors)
        return self._evaluate(vectors)

    def _derivatives(self) -> tuple[Frame, Array, Array, Covariance]:
        """By the parameters that are not held; those whose evaluations fail become held."""
        space, up = self._space, self._wanted.up
        moved = tuple(i for i, p in enumerate(space.parameters) if p.name not in self._held)
        if not moved:
            raise InputError(f"no parameter is free: {', '.join(f'{n}: {why}' for n, why in self._held.items())}")
        frame = Frame(space, tuple(self._best.x), moved)
        if self._r0 is not None:
            found = slopes(self._batch, frame, self._r0)
            kept = self._keep(frame, found.failures)
            j = found.jacobian[:, kept]
            self._note_roughness(frame, found.roughness, kept)
            frame = Frame(space, frame.x, tuple(moved[k] for k in kept))
            return (
                frame,
                2 * j.T @ self._r0,
                2 * j.T @ j,
                of_jacobian(j, frame.names, found.roughness[kept]),
            )
        curves = curvature(self._batch, frame, self._best.cost, up)
        kept = self._keep(frame, curves.failures)
        hessian = curves.hessian[np.ix_(kept, kept)]
        frame = Frame(space, frame.x, tuple(moved[k] for k in kept))
        return frame, curves.gradient[kept], hessian, of_hessian(hessian, frame.names, up)

    def _keep(self, frame: Frame, failures: dict[str, str]) -> list[int]:
        for name, why in failures.items():
            self._held[name] = f"no derivative ({why}), held fixed"
        kept = [k for k, name in enumerate(frame.names) if name not in failures]
        if not kept:
            raise InputError(f"no derivative could be taken: {'; '.join(f'{n}: {why}' for n, why in failures.items())}")
        return kept

    def _note_roughness(self, frame: Frame, roughness: Array, kept: list[int]) -> None:
        rough = [frame.names[k] for k in kept if _UNCERTAIN < roughness[k] < math.inf]
        if rough:
            worst = max(float(roughness[k]) for k in kept if roughness[k] < math.inf)
            self._notes.append(
                f"the evaluator's figures are rough or strongly curved along {', '.join(rough)}: "
                f"the errors may be wrong by up to {worst:.0%}"
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

    def _distance(self, gradient: Array, covariance: Covariance) -> float:
        """Minuit's EDM: gᵀ H⁻¹ g / 2 with H⁻¹ = covariance / 2 up."""
        known = np.isfinite(covariance.errors)
        g, c = gradient[known], covariance.matrix[np.ix_(known, known)]
        up = self._wanted.up
        distance = float(g @ c @ g) / (4 * up)
        if distance > _FAR * up:
            self._notes.append(
                f"the fit is not at its minimum: by the derivatives that is about {distance:.2g} below; "
                f"more evaluations would come nearer"
            )
        return distance

    def _profiles(self, frame: Frame, gradient: Array, hessian: Array, covariance: Covariance) -> Profiles:
        """Over all active real parameters: those at bounds may leave them."""
        space, up = self._space, self._wanted.up
        scale = np.where(np.isfinite(covariance.errors), covariance.errors, 0.1 * (frame.upper - frame.lower))
        whole = Frame(space, frame.x, tuple(i for i in range(len(space)) if self._may_leave(i)))
        if len(whole.moved) > len(frame.moved):
            gradient, hessian, scale = self._widened(whole, frame, gradient, hessian, scale)
        reach = self._wanted.reach
        found = profiles(
            self._batch, whole, scale, (self._best.cost, gradient, hessian), up * reach**2, reach, self._r0
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

    def _result(self, frame: Frame, covariance: Covariance, distance: float, found: Profiles) -> Errors:
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
