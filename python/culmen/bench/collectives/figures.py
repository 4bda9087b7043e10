"""The plots of a table of collectives, as one HTML page."""

import math
from collections.abc import Iterator

from ...launch.mpi.collectives import DEFAULT
from ...report.heat_map import heat_map
from ...report.page import Section, page, place_of, table, text
from ...report.style import GREY, LINE_COLOURS, SYMBOLS, Figure, axis, layout
from ..drawing import error_bars, lead_of
from ..words import shown_size
from .points import BARRIERS
from .samples import Key, Measured, Table
from .winners import HEADINGS, Winner, rows_of, winners

_ABOUT = "The median time of a call, with its interval of 95 %. The thick grey line is the MPI's own choice."
Points = dict[Key, Measured]
_DASHES = ("solid", "dash", "dot", "dashdot")


def collectives_page(found: Table) -> str:
    """HTML."""
    figures = list(_figures(found))
    versions = sorted({point.version for point in found.points.values()})
    lead = lead_of("culmen bench collectives", ", ".join(versions))
    sections = [Section(f"section-{f.key}", f.title, place_of(f)) for f in figures]
    sections.append(Section("winners", "Fastest algorithms", table(rows_of(found), HEADINGS, numbers=(2, 5, 6))))
    return page("Collectives", lead, sections, figures)


def _figures(found: Table) -> Iterator[Figure]:
    yield from _comparisons(found)
    won = winners(found)
    for mpi, collective in sorted({key[:2] for key in found.points}):
        here = [w for w in won if (w.mpi, w.collective) == (mpi, collective)]
        points = {key: point for key, point in found.points.items() if key[:2] == (mpi, collective)}
        if collective not in BARRIERS:
            if here:
                yield _map(mpi, collective, here)
            yield _against_size(points, mpi, collective, _ABOUT)
        yield _against_ranks(points, mpi, collective, _ABOUT)


def _comparisons(found: Table) -> Iterator[Figure]:
    """If there are several partitions: the MPI's own choice on each of them."""
    points = {
        key._replace(mpi="partitions", algorithm=key.mpi): point
        for key, point in found.points.items()
        if key.algorithm == DEFAULT and "/" in key.mpi
    }
    about = "The median time of a call with the MPI's own choice, with its interval of 95 %, on each partition."
    for collective in sorted({key.collective for key in points}):
        here = {key: point for key, point in points.items() if key.collective == collective}
        if collective not in BARRIERS:
            yield _against_size(here, "partitions", collective, about)
        yield _against_ranks(here, "partitions", collective, about)


def _map(mpi: str, collective: str, won: list[Winner]) -> Figure:
    """Ranks × size, with the name of the fastest algorithm."""
    ranks, sizes = sorted({w.ranks for w in won}), sorted({w.size for w in won})
    at = {(w.ranks, w.size): w for w in won}
    cells = [[at.get((n, size)) for size in sizes] for n in ranks]
    about = (
        "Each cell names the fastest algorithm. The colour shows how many times faster it is than the "
        "MPI's own choice. "
        f"White: {DEFAULT}, which no other algorithm beats beyond doubt."
    )
    gains = [[math.log2(w.gain) if w else None for w in row] for row in cells]
    most = math.ceil(max(1.0, *(math.log2(w.gain) for w in won)))
    ticks = {"tickvals": list(range(most + 1)), "ticktext": [str(2**k) for k in range(most + 1)]}
    data, parts = heat_map(
        [shown_size(size) for size in sizes],
        [str(n) for n in ranks],
        gains,
        [[_said(w) if w else "" for w in row] for row in cells],
        {"title": {"text": "times faster"}, **ticks},
        [[text(w.name) if w and w.name != DEFAULT else "" for w in row] for row in cells],
    )
    plain = layout(height=max(260, 120 + 34 * len(ranks))) | parts
    plain["xaxis"]["title"], plain["yaxis"]["title"] = {"text": "message size"}, {"text": "ranks"}
    return Figure(f"map-{mpi}-{collective}", f"{collective}, {mpi}: the fastest algorithm", about, data, plain)


def _said(w: Winner) -> str:
    us = w.found.interval.median * 1e6
    gain = "" if w.name == DEFAULT else f", {w.gain:.3g} times faster ({w.least_gain:.3g} to {w.most_gain:.3g})"
    return text(f"{w.ranks} ranks, {shown_size(w.size)}: {w.name}, {us:.3g} µs{gain}")


def _against_size(points: Points, mpi: str, collective: str, about: str) -> Figure:
    """One menu entry for each number of ranks."""
    label, title = "message size in bytes", f"{collective}, {mpi}: time against message size"
    return _menu_of(points, f"size-{mpi}-{collective}", "ranks", "size", label, title, about)


def _against_ranks(points: Points, mpi: str, collective: str, about: str) -> Figure:
    """One menu entry for each message size."""
    title = f"{collective}, {mpi}: time against the number of ranks"
    return _menu_of(points, f"ranks-{mpi}-{collective}", "size", "ranks", "ranks", title, about)


def _menu_of(points: Points, figure: str, chosen: str, along: str, label: str, title: str, about: str) -> Figure:
    """Lines of all algorithms along one of ranks and size, for each value of the other."""
    names = sorted({key.algorithm for key in points}, key=lambda name: (name != DEFAULT, name))
    values = sorted({getattr(key, chosen) for key in points if getattr(key, along) > 0})
    data: list[dict] = []
    places = []
    for value in values:
        first = len(data)
        for number, name in enumerate(names):
            there = [key for key in points if key.algorithm == name and getattr(key, chosen) == value]
            there = sorted((key for key in there if getattr(key, along) > 0), key=lambda key: getattr(key, along))
            if there:
                data.append(_line(name, number, there, points, along) | {"visible": value == values[-1]})
        places.append(range(first, len(data)))
    plain = layout(height=520, margin={"l": 70, "r": 20, "t": 60, "b": 55})
    plain |= {
        "xaxis": axis(label, type="log"),
        "yaxis": axis("median time in µs", type="log"),
        "legend": {"x": 1.02, "y": 1},
        "updatemenus": [_choices(chosen, values, places, len(data)), _scales()],
    }
    about += f" The menu chooses the {'number of ranks' if chosen == 'ranks' else 'message size'}."
    return Figure(figure, title, about, data, plain)


def _choices(chosen: str, values: list[int], places: list[range], lines: int) -> dict:
    """A menu of plotly that shows the lines of one value."""
    buttons = [
        {
            "label": f"{value} ranks" if chosen == "ranks" else shown_size(value),
            "method": "restyle",
            "args": ["visible", [number in place for number in range(lines)]],
        }
        for value, place in zip(values, places, strict=True)
    ]
    return {"buttons": buttons, "active": len(values) - 1, "x": 0, "xanchor": "left", "y": 1.14, "yanchor": "top"}


def _scales() -> dict:
    kinds = {"logarithmic": "log", "linear": "linear"}
    buttons = [
        {"label": name, "method": "relayout", "args": [{"xaxis.type": kind, "yaxis.type": kind}]}
        for name, kind in kinds.items()
    ]
    return {
        "buttons": buttons,
        "type": "buttons",
        "direction": "right",
        "x": 0.3,
        "xanchor": "left",
        "y": 1.14,
        "yanchor": "top",
    }


def _line(name: str, number: int, keys: list[Key], points: dict, along: str) -> dict:
    own = [points[key].interval for key in keys]
    colour = GREY if name == DEFAULT else LINE_COLOURS[number % len(LINE_COLOURS)]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": text(name + ("" if all(points[key].verified for key in keys) else " (unverified)")),
        "x": [getattr(key, along) for key in keys],
        "y": [each.median * 1e6 for each in own],
        "line": {"color": colour, "dash": _DASHES[number % len(_DASHES)], "width": 3 if name == DEFAULT else 1.5},
        "marker": {"symbol": SYMBOLS[number % len(SYMBOLS)], "size": 7, "color": colour},
        "error_y": error_bars(own),
    }
