"""The style of figures. They are legible in grey and for colour-blind people: markers, dashes and widths differ too.

The colours are those of Okabe and Ito (https://jfly.uni-koeln.de/color/).
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import Any

BLACK, ORANGE, SKY, GREEN, BLUE, VERMILLION, PURPLE, GREY = (
    "#000000",
    "#e69f00",
    "#56b4e9",
    "#009e73",
    "#0072b2",
    "#d55e00",
    "#cc79a7",
    "#8a8a8a",
)
LINE_COLOURS = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, BLACK)
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star")
EARLY_TO_LATE = [[0, "#c6dbef"], [0.5, "#4292c6"], [1, "#08306b"]]  # its lightness is visible in grey too
_LONGEST_NAME = 40
FONT, SMALL = 13, 11

EVALUATION: dict[str, Any] = {"symbol": "circle-open", "size": 4, "color": BLUE, "opacity": 0.6}
BEST: dict[str, Any] = {"symbol": "star", "size": 13, "color": ORANGE, "line": {"color": BLACK, "width": 1}}
FAILED: dict[str, Any] = {"symbol": "x-thin-open", "size": 7, "color": VERMILLION, "line": {"width": 1.5}}
INFEASIBLE: dict[str, Any] = {"symbol": "triangle-up-open", "size": 6, "color": PURPLE}


@dataclass
class Figure:
    """A figure of plotly and its texts. ``notes``: the selection of points, and why some were left out."""

    key: str
    title: str
    about: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    def plain(self) -> dict[str, Any]:
        """For plotly.graph_objects.Figure."""
        return {"data": self.data, "layout": {**self.layout, "title": {"text": self.title}}}


def key_of(*words: str) -> str:
    """A figure's key, which also names a file and an element of a page: only letters, digits and ``_.-``."""
    return re.sub(r"[^\w.-]+", "-", "-".join(words))


def layout(height: int = 420, **more: Any) -> dict[str, Any]:
    return {
        "height": height,
        "margin": {"l": 70, "r": 20, "t": 30, "b": 55},
        "font": {"family": "system-ui, sans-serif", "size": FONT, "color": "#111"},
        "paper_bgcolor": "#fff",
        "plot_bgcolor": "#fff",
        "hovermode": "closest",
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        **more,
    }


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    return {
        "title": {"text": title, "standoff": 8},
        "showline": True,
        "linecolor": "#444",
        "gridcolor": "#e4e4e4",
        "zeroline": False,
        "ticks": "outside",
        "exponentformat": "power",
        "automargin": True,
        **more,
    }


def plain_text(text: object, longest: int = _LONGEST_NAME) -> str:
    """A name for a figure. It is escaped, because plotly interprets tags."""
    return html.escape(_cut(" ".join(str(text).split()), longest, 0))


def short_names(names: Sequence[object], longest: int) -> list[str]:
    """Names that are cut at the end, or in the middle if this keeps more of them different. They are escaped.
    ``longest``: see ``breadth``."""
    words = [" ".join(str(name).split()) for name in names]
    ways = [[_cut(w, longest, end) for w in words] for end in range(0, max(longest - 1, 1), 3)]
    return [html.escape(name) for name in max(ways, key=lambda way: len(set(way)))]


def _cut(words: str, longest: int, end: int) -> str:
    """``end``: number of last characters to keep, if there is room for them."""
    if len(words) <= longest and breadth(words) <= longest:
        return words
    tail = _beginning(words[: -end - 1 : -1], longest - 1)[::-1]
    return f"{_beginning(words, longest - 1 - breadth(tail))}…{tail}"


def _beginning(text: str, room: float) -> str:
    """As many characters as fit. It does not look at the rest, because a name may have millions of characters."""
    at_most = text[: max(0, int(room))]
    for k, used in enumerate(accumulate(map(_breadth_of_one, at_most))):
        if used > room:
            return text[:k]
    return at_most


def breadth(text: str) -> float:
    """An estimate of a text's width; the unit is the width of a usual character."""
    return sum(map(_breadth_of_one, text))


@cache
def _breadth_of_one(character: str) -> float:
    if character in "MWmw@%" or unicodedata.east_asian_width(character) in "WF":
        return 1.7
    return 1.2 if character.isupper() else 1.0


def grouped(n: int) -> str:
    """With a narrow space between thousands."""
    return f"{n:,}".replace(",", "\u202f")


def counted(n: int, one: str, many: str = "") -> str:
    return f"{grouped(n)} {one if n == 1 else many or one + 's'}"
