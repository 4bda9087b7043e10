"""Stops a search that no longer pays: further runs are expected to save fewer hours than they take.

If a search keeps its best result, the optimal rule compares the gain of the next step with its cost (Weitzman,
Econometrica 47 (1979)). If the search has a model, this gain is the model's expected improvement (Xie, Cai, Terenin,
Frazier and Scully, arXiv 2507.12453 (2025)). One noisy run may tell little, although several runs together would pay.
Therefore the rule uses the gain per run, for the best number of runs (Frazier and Powell, Decision Analysis 7 (2010)).
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

from ... import _core
from ...report.reading import Evaluations
from .surrogate import Prediction, predictions

_FEWEST, _FOR_EACH = 8, 2  # runs before the first look: a fixed number, and some for each parameter
_STEP = 10  # percent more runs until the next look
_NEWEST = 300  # number of runs in the model
_LEAST_GOOD = 2  # fewer successful runs tell nothing about the gain
_ANYWHERE, _TOPS, _CHANGES, _REDRAWN = 400, 10, 30, 0.25
_TOGETHER = (1, 2, 4, 8, 16, 32)  # numbers of further runs with the same settings
_HOUR_S = 3600.0


@dataclass(frozen=True)
class Look:
    """``runs``: number of runs so far. ``saves_h``: hours of the program's use that the next run can be expected to
    save. ``costs_h``: hours that the next run takes."""

    runs: int
    saves_h: float
    costs_h: float

    @property
    def is_enough(self) -> bool:
        return self.saves_h < self.costs_h


def next_look(runs: int, parameters: int) -> int:
    """The number of runs after which the next look follows. It depends on nothing else. So the looks of an interrupted
    search follow after the same runs."""
    at = _FEWEST + _FOR_EACH * parameters
    while at <= runs:
        at += max(1, at * _STEP // 100)
    return at


def look_at(found: Evaluations, use_h: float, maximize: bool, runs: int, seed: int = 1) -> Look | None:
    """The look after the first ``runs`` runs. ``use_h``: hours that the program will run in total with the present
    settings, which are those of the first run. None if the values tell nothing: some are not positive, or too few runs
    succeeded."""
    rows = found.order[:runs]
    good = found.feasible[rows]
    values = found.values[rows, 0]
    if good.sum() < _LEAST_GOOD or not (values[good] > 0).all() or found.space is None:
        return None
    logs = np.log(np.where(good, values, 1.0)) * (-1 if maximize else 1)  # logarithms of the time for a given work
    logs[~good] = logs[good].max()  # as bad as the worst, so that the model avoids them
    costs_h = float(np.nanmean(found.duration_s[rows])) / _HOUR_S
    share = expected_share(found.space, found.x[rows][-_NEWEST:], logs[-_NEWEST:], runs + seed)
    best = logs[good].min() - logs[0] if good[0] else 0.0
    return Look(len(rows), use_h * math.exp(min(best, 0.0)) * share, costs_h)


def expected_share(space: _core.Space, x: np.ndarray, logs: np.ndarray, seed: int) -> float:
    """The share of the time of the best known settings that one more run can be expected to save. ``logs``: logarithms
    of times."""
    if np.ptp(logs) == 0:
        return 0.0
    ordered = np.array([p.kind != "categorical" for p in space.parameters])
    units = np.array([_settled(space, row.tolist()) for row in x])
    at = _places(space, units[np.argsort(logs)[:_TOPS]], np.random.default_rng(seed))
    shares = np.zeros((len(_TOGETHER), len(at)))
    for model in predictions(units, logs, at, ordered):
        shares += model.weight * np.array([improvement(model, runs) / runs for runs in _TOGETHER])
    return float(shares.max())


def improvement(model: Prediction, runs: int) -> np.ndarray:
    """The share of the best run's time that each point is expected to save after ``runs`` runs there. The estimate of
    the logarithm of its time then has a normal distribution."""
    best = model.known.min()
    deviation = model.deviation**2 / np.sqrt(model.deviation**2 + model.noise**2 / runs + 1e-24) + 1e-12
    z = (best - model.mean) / deviation
    shift = np.minimum(model.mean - best + 0.5 * deviation**2, 700.0)
    share = stats.norm.cdf(z) - np.exp(shift + stats.norm.logcdf(z - deviation))
    return np.clip(share, 0.0, 1.0)


def _settled(space: _core.Space, vector: list[float]) -> np.ndarray:
    return np.where(space.activity(vector), space.to_unit(vector), 0.5)


def _places(space: _core.Space, tops: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Points that satisfy the constraints: random points, and good runs with some parameters changed."""
    changed = np.repeat(tops, _CHANGES, axis=0)
    new = rng.random(changed.shape) < _REDRAWN
    new[np.arange(len(new)), rng.integers(new.shape[1], size=len(new))] = True
    changed[new] = rng.random(new.sum())
    drawn = np.concatenate([rng.random((_ANYWHERE, tops.shape[1])), changed])
    vectors = [space.from_unit(unit.tolist()) for unit in drawn]
    allowed = [_settled(space, vector) for vector in vectors if not space.violation(vector) > 0]
    return np.array(allowed) if allowed else tops


@dataclass(frozen=True)
class Ended:
    """Why a search ended. ``stopped``: the rule stopped it, not a limit of the file. ``look``: the last look; None if
    there were too few runs, or if their values tell nothing."""

    use_h: float
    stopped: bool
    look: Look | None


def as_dict(ended: Ended | None) -> dict[str, Any] | None:
    return None if ended is None else asdict(ended)


def ended_from(known: dict[str, Any] | None) -> Ended | None:
    """The inverse of ``as_dict``."""
    if not known:
        return None
    look = known.get("look")
    return Ended(known["use_h"], known["stopped"], look and Look(**look))


class StopRule:
    """``use_h``, ``maximize``, ``seed``: see look_at. Two looks in a row must say that it is enough, because a model of
    few runs may be wrong."""

    def __init__(self, use_h: float, maximize: bool, parameters: int, seed: int) -> None:
        self._use_h, self._maximize, self._parameters, self._seed = use_h, maximize, parameters, seed
        self._looks: dict[int, Look | None] = {}

    def next_runs(self, runs: int) -> int:
        """The number of runs after which the next look follows."""
        return next_look(runs, self._parameters)

    def seen(self, found: Evaluations, runs: int) -> Ended:
        """The state after ``runs`` runs."""
        counts = [self.next_runs(0)]
        while counts[-1] <= runs:
            counts.append(self.next_runs(counts[-1]))
        last = [self._look(found, count) for count in counts[:-1][-2:]]
        stopped = len(last) == 2 and all(look is not None and look.is_enough for look in last)
        return Ended(self._use_h, stopped, last[-1] if last else None)

    def _look(self, found: Evaluations, runs: int) -> Look | None:
        if runs not in self._looks:
            self._looks[runs] = look_at(found, self._use_h, self._maximize, runs, self._seed)
        return self._looks[runs]
