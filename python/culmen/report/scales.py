"""The shown range and the scale of an axis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..store.table import Parameter
from .style import counted, plain_text
from .thinning import evenly

if TYPE_CHECKING:
    import numpy as np

_DECADES_FOR_LOG = 2.0
_NAMED = 60  # choices; the names of more could not be read
_LARGEST = 1e300  # plotly subtracts ends of axes from each other


def value_axis(values: np.ndarray, maximize: bool = False) -> tuple[dict[str, Any], list[str]]:
    """For all values (without NaN): logarithmic if they are positive over more than two decades. Values that are so bad
    that they would flatten the rest are outside the range; a note says so."""
    import numpy as np

    finite = values[np.isfinite(values) & (np.abs(values) < _LARGEST)]
    notes = []
    if hidden := int(np.isfinite(values).sum()) - len(finite):
        notes.append(f"{counted(hidden, 'value')} beyond ±{_LARGEST:g} cannot be drawn.")
    if not len(finite):
        return {}, notes
    if finite.min() > 0 and math.log10(finite.max()) - math.log10(finite.min()) > _DECADES_FOR_LOG:
        return {"type": "log", "dtick": _decades(finite)}, notes
    ends = _range(-finite if maximize else finite)
    if ends is None:
        return {}, notes
    low, high = (-ends[1], -ends[0]) if maximize else ends
    outside = int(((finite < low) | (finite > high)).sum())
    if outside:
        notes.append(
            f"{counted(outside, 'value lies', 'values lie')} outside the shown range "
            f"({finite.min():.4g} to {finite.max():.4g}); double-click the figure to show all."
        )
    return {"range": [low, high]}, notes


def _decades(values: np.ndarray) -> int:
    return max(1, math.ceil((math.log10(values.max()) - math.log10(values.min())) / 8))


def _range(values: np.ndarray) -> tuple[float, float] | None:
    """To be minimized. None: the range of all values."""
    import numpy as np

    low, usual, high = (float(v) for v in np.quantile(values, [0, 0.95, 1]))
    if high - low <= 3 * (usual - low) or usual <= low:
        return None
    pad = 0.05 * (usual - low)
    return low - pad, usual + pad


def parameter_axis(p: Parameter) -> dict[str, Any]:
    if p.choices or p.kind == "boolean":
        words = p.choices or ("false", "true")
        named = evenly(len(words), _NAMED).tolist()
        return {
            "tickvals": named,
            "ticktext": [plain_text(words[k], 14) for k in named],
            "range": [-0.5, len(words) - 0.5],
        }
    return {"type": "log"} if p.scale == "log" else {}


def unit(p: Parameter, x: np.ndarray) -> np.ndarray:
    """The parameter's numbers from 0 (lower bound) to 1 (upper), in its own scale; without bounds, over their range."""
    import numpy as np

    x = np.log(np.maximum(x, np.finfo(float).tiny)) if p.scale == "log" else x
    ends = [p.lower, p.upper] if math.isfinite(p.upper - p.lower) else [float(np.min(x)), float(np.max(x))]
    low, high = (math.log(e) for e in ends) if p.scale == "log" and math.isfinite(p.upper - p.lower) else ends
    with np.errstate(over="ignore", invalid="ignore"):
        scaled: np.ndarray = (x / 2 - low / 2) / (high / 2 - low / 2) if high > low else np.full(len(x), 0.5)
    clipped: np.ndarray = np.clip(np.nan_to_num(scaled, nan=0.5), 0, 1)
    return clipped
