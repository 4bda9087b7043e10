"""The lines of all algorithms of a collective: time or bandwidth against message size or ranks."""

import math
from typing import Any

from ...launch.mpi.collectives import DEFAULT
from ...report.page import text
from ...report.style import GREY, LINE_COLOURS, SYMBOLS, Figure, axis, key_of, layout
from ..drawing import error_bars
from ..sampling import Interval
from ..words import shown_size
from .samples import Key, Measured

Points = dict[Key, Measured]
_DASHES = ("solid", "dash", "dot", "dashdot")
_LOW, _USUAL, _BASELINE = 1.14, 1.5, 3  # place of the menus; widths of lines


def against_size(
    points: Points, mpi: str, collective: str, about: str, baseline: str = DEFAULT, rate: bool = False
) -> Figure:
    """One menu entry for each number of ranks."""
    what, key = ("bandwidth", "rate-size") if rate else ("time", "size")
    title = f"{collective}, {mpi}: {what} against message size"
    label = "message size in bytes"
    return _menu_of(points, key_of(key, mpi, collective), "ranks", "size", label, title, about, baseline, rate)


def against_ranks(
    points: Points, mpi: str, collective: str, about: str, baseline: str = DEFAULT, rate: bool = False
) -> Figure:
    """One menu entry for each message size."""
    what, key = ("bandwidth", "rate-ranks") if rate else ("time", "ranks")
    title = f"{collective}, {mpi}: {what} against the number of ranks"
    return _menu_of(points, key_of(key, mpi, collective), "size", "ranks", "ranks", title, about, baseline, rate)


def _menu_of(
    points: Points,
    figure: str,
    chosen: str,
    along: str,
    label: str,
    title: str,
    about: str,
    baseline: str,
    rate: bool,
) -> Figure:
    """Lines of all algorithms along one of ranks and size, for each value of the other. ``rate``: bandwidths."""
    points = {key: point for key, point in points.items() if not rate or (key.size > 0 and point.interval.median > 0)}
    names = sorted({key.algorithm for key in points}, key=lambda name: (name != DEFAULT, name))
    values = sorted({getattr(key, chosen) for key in points if getattr(key, along) > 0})
    base = baseline if baseline in names else DEFAULT
    data: list[dict] = []
    drawn: list[int] = []  # the algorithm of each line
    places = []
    for value in values:
        first = len(data)
        for number, name in enumerate(names):
            there = [key for key in points if key.algorithm == name and getattr(key, chosen) == value]
            there = sorted((key for key in there if getattr(key, along) > 0), key=lambda key: getattr(key, along))
            if there:
                line = _line(name, number, there, points, along, rate)
                data.append(line | {"visible": value == values[-1]})
                drawn.append(number)
        places.append(range(first, len(data)))
    for line, number in zip(data, drawn, strict=True):
        colour, width = _look(number, names[number] == base)
        line["line"] |= {"color": colour, "width": width}
        line["marker"]["color"] = colour
    plain = layout(height=520, margin={"l": 70, "r": 20, "t": 60, "b": 55})
    menus = [_choices(chosen, values, places, len(data)), _scales()]
    if len(names) > 1 and base in names:
        menus.append(_baselines(names, drawn, base))
        about += " The thick grey line is the baseline, which the last menu chooses."
    plain |= {
        "xaxis": axis(label, type="log"),
        "yaxis": axis("bandwidth in MB/s" if rate else "median time in µs", type="log"),
        "legend": {"x": 1.02, "y": 1},
        "updatemenus": menus,
    }
    which = "first menu" if len(menus) > 2 else "menu"
    about += f" The {which} chooses the {'number of ranks' if chosen == 'ranks' else 'message size'}."
    return Figure(figure, title, about, data, plain)


def _look(number: int, is_baseline: bool) -> tuple[str, float]:
    """Colour and width of an algorithm's line."""
    return (GREY, _BASELINE) if is_baseline else (LINE_COLOURS[number % len(LINE_COLOURS)], _USUAL)


def _symbol(number: int) -> str:
    """The symbol of an algorithm: full symbols first, then open ones."""
    again = number // len(SYMBOLS) % 2
    return SYMBOLS[number % len(SYMBOLS)] + ("-open" if again else "")


def _baselines(names: list[str], drawn: list[int], base: str) -> dict[str, Any]:
    """A menu that makes another algorithm's lines the grey ones."""
    buttons = []
    for chosen, name in enumerate(names):
        looks = [_look(number, number == chosen) for number in drawn]
        colours, widths = [colour for colour, _ in looks], [width for _, width in looks]
        change = {"line.color": colours, "line.width": widths, "marker.color": colours}
        buttons.append({"label": f"baseline: {text(name)}", "method": "restyle", "args": [change]})
    return {"buttons": buttons, "active": names.index(base), **_at(0.62)}


def _at(x: float) -> dict[str, Any]:
    return {"x": x, "xanchor": "left", "y": _LOW, "yanchor": "top"}


def _choices(chosen: str, values: list[int], places: list[range], lines: int) -> dict[str, Any]:
    """A menu of plotly that shows the lines of one value."""
    buttons = [
        {
            "label": f"{value} ranks" if chosen == "ranks" else shown_size(value),
            "method": "restyle",
            "args": ["visible", [number in place for number in range(lines)]],
        }
        for value, place in zip(values, places, strict=True)
    ]
    return {"buttons": buttons, "active": len(values) - 1, **_at(0)}


def _scales() -> dict[str, Any]:
    kinds = {"logarithmic": "log", "linear": "linear"}
    buttons = [
        {"label": name, "method": "relayout", "args": [{"xaxis.type": kind, "yaxis.type": kind}]}
        for name, kind in kinds.items()
    ]
    return {"buttons": buttons, "type": "buttons", "direction": "right", **_at(0.3)}


def _line(name: str, number: int, keys: list[Key], points: Points, along: str, rate: bool) -> dict[str, Any]:
    own = [points[key].interval for key in keys]
    sizes = [key.size for key in keys]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": text(name + ("" if all(points[key].verified for key in keys) else " (unverified)")),
        "x": [getattr(key, along) for key in keys],
        "y": [s / each.median / 1e6 if rate else each.median * 1e6 for s, each in zip(sizes, own, strict=True)],
        "line": {"dash": _DASHES[number % len(_DASHES)]},
        "marker": {"symbol": _symbol(number), "size": 7},
        "error_y": _rate_bars(sizes, own) if rate else error_bars(own),
    }


def _rate_bars(sizes: list[int], own: list[Interval]) -> dict[str, Any]:
    """Error bars in MB/s. The upper end comes from the lower time, because a longer time is a lower bandwidth."""
    at = [(size / 1e6, each) for size, each in zip(sizes, own, strict=True)]
    return {
        "type": "data",
        "symmetric": False,
        "array": [mb / each.low - mb / each.median if each.low > 0 else 0 for mb, each in at],
        "arrayminus": [mb / each.median - mb / each.high if math.isfinite(each.high) else 0 for mb, each in at],
        "thickness": 1,
    }
