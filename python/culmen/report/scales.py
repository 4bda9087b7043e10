"""The shown range and the scale of an axis."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..store.table import Parameter
from .style import FONT, SMALL, breadth, counted, short_names

if TYPE_CHECKING:
    import numpy as np

_DECADES_FOR_LOG = 2.0
_LONGEST_CHOICE = 16  # characters
_LINE, _CHARACTER, _BETWEEN = 17, 7.2, 8  # pixels: of a label's line, of a character, between two labels
_FEWEST_TICKS, _MOST_TICKS, _CLOSE = 3, 5, 1e-9
_LARGEST = 1e300  # plotly subtracts ends of axes from each other


def value_axis(values: np.ndarray, maximize: bool = False) -> tuple[dict[str, Any], list[str]]:
    """The axis for values without NaN, and notes. It is logarithmic if the values are positive over more than two
    decades. Very bad values, which would flatten the rest, are outside the range; a note says so."""
    import numpy as np

    finite = values[np.isfinite(values) & (np.abs(values) < _LARGEST)]
    notes = []
    if hidden := int(np.isfinite(values).sum()) - len(finite):
        notes.append(f"{counted(hidden, 'value')} beyond ±{_LARGEST:g} cannot be drawn.")
    if not len(finite):
        return {}, notes
    if finite.min() > 0 and math.log10(finite.max()) - math.log10(finite.min()) > _DECADES_FOR_LOG:
        return logarithmic(float(finite.min()), float(finite.max()), 8), notes
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


def logarithmic(low: float, high: float, ticks: int) -> dict[str, Any]:
    """A logarithmic axis with ticks at powers of ten, or at 1, 2 and 5 if those are too few. Both ends are positive."""
    decades = math.log10(high) - math.log10(low)
    if decades > _DECADES_FOR_LOG:
        # plotly writes powers of ten a quarter larger than the font
        return {"type": "log", "dtick": max(1, math.ceil(decades / ticks)), "tickfont": {"size": FONT / 1.25}}
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [digit * 10.0**e for e in exponents for digit in (1, 2, 5)]
    values = [v for v in values if low * (1 - _CLOSE) <= v <= high * (1 + _CLOSE)]
    if len(values) < _FEWEST_TICKS:
        return {"type": "log"}
    return {"type": "log", "tickvals": values, "ticktext": [_number(v) for v in values]}


def _number(value: float) -> str:
    if 1e-3 <= value < 1e5:
        return f"{value:.10g}"
    digit, exponent = f"{value:.0e}".split("e")
    power = f"10<sup>{int(exponent)}</sup>".replace("-", "−")
    return power if digit == "1" else f"{digit}·{power}"


def whole(low: float, high: float, ticks: int) -> dict[str, Any]:
    """Settings of an axis for whole numbers: no ticks between them."""
    return {"dtick": 1} if high - low <= ticks else {}


def _range(values: np.ndarray) -> tuple[float, float] | None:
    """The shown range of values, which are minimized. None: the range of all values."""
    import numpy as np

    low, usual, high = (float(v) for v in np.quantile(values, [0, 0.95, 1]))
    if high - low <= 3 * (usual - low) or usual <= low:
        return None
    pad = 0.05 * (usual - low)
    return low - pad, usual + pad


def parameter_axis(p: Parameter, values: np.ndarray, width: int) -> dict[str, Any]:
    """The axis for these values of the parameter, in a panel of this width in pixels."""
    import numpy as np

    if p.choices or p.kind == "boolean":
        return _axis_of_choices(p.choices or ("false", "true"), width)
    finite = values[np.isfinite(values)]
    if not len(finite):
        return {"tickangle": 0}
    if p.scale == "log" and finite.min() > 0:
        return {**logarithmic(float(finite.min()), float(finite.max()), 4), "tickangle": 0}
    return {"tickangle": 0, **_linear(float(finite.min()), float(finite.max()), p.kind == "integer", width)}


def _linear(low: float, high: float, integer: bool, width: int) -> dict[str, Any]:
    """A linear axis with as many ticks as fit."""
    largest = max(abs(low), abs(high))
    usual = largest == 0 or 1e-4 < largest < 1e7
    characters = len(f"{largest:,.0f}") + 2 if usual else 10  # with a sign and a point
    if usual and not integer and high > low:
        characters += max(0, -math.floor(math.log10((high - low) / _MOST_TICKS)))
    ticks = max(2, min(_MOST_TICKS, width // math.ceil(characters * _CHARACTER * FONT / SMALL)))
    written = {"exponentformat": "none", "separatethousands": True} if usual else {}
    return {"nticks": ticks, **written, **(whole(low, high, ticks - 1) if integer else {})}


def _axis_of_choices(words: Sequence[Any], width: int) -> dict[str, Any]:
    """The names stand upright if they do not fit side by side."""
    named = list(range(0, len(words), math.ceil(len(words) * _LINE / width)))
    short = short_names([words[k] for k in named], _LONGEST_CHOICE)
    place = width / max(len(words), 1)  # of one choice
    fits = all(width_of(name) <= place - _BETWEEN for name in short)
    return {
        "tickvals": named,
        "ticktext": short,
        "range": [-0.5, len(words) - 0.5],
        "tickangle": 0 if fits else -90,
        "tickfont": {"size": SMALL},
    }


def height_of_labels(drawn: dict[str, Any]) -> int:
    """The height of the labels below an axis, in pixels."""
    return max(map(width_of, drawn["ticktext"])) if drawn["tickangle"] else _LINE


def width_of(label: str) -> int:
    """The width of a label in the small font, in pixels, for the widest font that browsers use."""
    return math.ceil(breadth(html.unescape(label)) * _CHARACTER)


def ends_of(p: Parameter, x: np.ndarray) -> tuple[float, float]:
    """The bounds or, if there are none, the lowest and the highest number of the parameter."""
    if math.isfinite(p.upper - p.lower):
        return p.lower, p.upper
    return float(x.min()), float(x.max())


def unit(p: Parameter, x: np.ndarray) -> np.ndarray:
    """The parameter's numbers from 0 (lower bound) to 1 (upper), in its own scale; without bounds, over their range."""
    import numpy as np

    low, high = ends_of(p, x)
    if p.scale == "log":
        tiny = float(np.finfo(float).tiny)
        x, low, high = np.log(np.maximum(x, tiny)), math.log(max(low, tiny)), math.log(max(high, tiny))
    with np.errstate(over="ignore", invalid="ignore"):
        scaled: np.ndarray = (x / 2 - low / 2) / (high / 2 - low / 2) if high > low else np.full(len(x), 0.5)
    clipped: np.ndarray = np.clip(np.nan_to_num(scaled, nan=0.5), 0, 1)
    return clipped
