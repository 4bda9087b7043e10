"""Which parameters matter: an additive model of all runs, and how it changes if a parameter's values are shuffled."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_FEWEST, _FOR_EACH = 8, 2  # runs for a table of effects: a fixed number, and some for each parameter
_LEVELS = 6  # up to this number, each value is a level; more values are a curve
_RIDGE = 1e-3
_SAMPLES, _SHUFFLES, _LIKELY = 200, 300, 0.99


@dataclass(frozen=True)
class Effect:
    """``size``: factor between the worst and the best value of the parameter, if all else is equal. If not all figures
    are positive, it is their difference. ``low``, ``high``: 95 % interval of ``size``, from resampled runs (basic
    bootstrap: Davison and Hinkley, Bootstrap Methods and their Application, 1997, section 5.2). ``matters``: the effect
    is larger than 99 % of the effects of shuffled values; otherwise, the interval begins at no effect."""

    name: str
    size: float
    low: float
    high: float
    matters: bool


def runs_for_effects(parameters: int) -> int:
    """The least number of successful runs for a table of effects."""
    return _FEWEST + _FOR_EACH * parameters


def effects_of(
    names: Sequence[str], x: np.ndarray, values: np.ndarray, ordered: Sequence[bool], seed: int = 1
) -> list[Effect]:
    """The largest effect first; empty if there are fewer runs than ``runs_for_effects``.

    ``x``: a row for each run, a column for each parameter; NaN if it is inactive. ``values``: the figure of each run.
    ``ordered``: whether a parameter's values have an order.
    """
    rng = np.random.default_rng(seed)
    positive = bool((values > 0).all())
    y = np.log(values) if positive else values
    if len(y) < runs_for_effects(len(names)):
        return []
    blocks = [_columns(x[:, j], ordered[j]) for j in range(len(names))]
    sizes = _sizes(blocks, y)
    again = []
    for _ in range(_SAMPLES):
        rows = rng.integers(len(y), size=len(y))
        again.append(_sizes([block[rows] for block in blocks], y[rows]))
    most, least = np.quantile(again, [0.025, 0.975], axis=0)
    # A size is never below 0, so noise makes it larger, and resampling makes it larger once more.
    low, high = np.maximum(2 * sizes - least, 0), np.maximum(2 * sizes - most, sizes)
    effects = []
    for j, name in enumerate(names):
        shuffled = []
        for _ in range(_SHUFFLES):
            others = [*blocks]
            others[j] = blocks[j][rng.permutation(len(y))]
            shuffled.append(_sizes(others, y)[j])
        matters = bool(sizes[j] > np.quantile(shuffled, _LIKELY))
        bounds = sizes[j], low[j] if matters else 0.0, high[j]
        size, lowest, highest = (float(np.exp(bound) if positive else bound) for bound in bounds)
        effects.append(Effect(name, size, lowest, highest, matters))
    return sorted(effects, key=lambda effect: -effect.size)


def _columns(x: np.ndarray, ordered: bool) -> np.ndarray:
    """Indicators of the levels, or a parabola."""
    levels = np.unique(x[~np.isnan(x)])
    if len(levels) <= 1 and not np.isnan(x).any():
        return np.zeros((len(x), 0))
    if len(levels) == 0:  # it was never active
        return np.zeros((len(x), 0))
    if not ordered or len(levels) <= _LEVELS:
        return np.stack([x == level for level in levels], axis=1).astype(float)
    scaled = 2 * (x - levels[0]) / (levels[-1] - levels[0]) - 1
    known = ~np.isnan(scaled)
    scaled = np.where(known, scaled, 0.0)
    return np.stack([known, scaled, scaled**2], axis=1).astype(float)


def _sizes(blocks: list[np.ndarray], y: np.ndarray) -> np.ndarray:
    """Difference between the largest and the least contribution of each block, by ridge regression."""
    columns = np.concatenate(blocks, axis=1)
    centred = columns - columns.mean(axis=0)
    gram = centred.T @ centred + _RIDGE * len(y) * np.eye(columns.shape[1])
    weights = np.linalg.solve(gram, centred.T @ (y - y.mean()))
    ends = np.cumsum([block.shape[1] for block in blocks])
    parts = [block @ weights[end - block.shape[1] : end] for block, end in zip(blocks, ends, strict=True)]
    return np.array([np.ptp(part) if len(part) else 0.0 for part in parts])
