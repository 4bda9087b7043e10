"""The plots of ``culmen bench pingpong``, as one HTML page."""

from collections.abc import Callable

from ...report.page import Section, page, place_of, table, text
from ...report.style import GREY, LINE_COLOURS, SYMBOLS, Figure, axis, layout
from ..drawing import error_bars, lead_of
from ..sampling import Interval
from ..words import shown_size
from .measured import Table, summary_of
from .routes import BETWEEN

HEADINGS = [
    "route",
    "latency in µs",
    "compared with TCP",
    "greatest throughput in MB/s",
    "at size",
    "half of it at",
]
NOT_COMPARED = "–"
_REFERENCE = "raw/tcp"
_SMALL = 4096  # bytes: up to here the latency is drawn
_COLOURS = (*LINE_COLOURS, GREY)
_SYMBOLS = (*SYMBOLS, "triangle-down")
_DASHES = ("solid", "dash", "dot", "dashdot")


def pingpong_page(found: Table) -> str:
    """The HTML page."""
    figures = [_throughput(found), _latency(found), _signature(found)]
    lead = lead_of("culmen bench pingpong")
    sections = [Section(f"section-{f.key}", f.title, place_of(f)) for f in figures]
    sections.append(Section("numbers", "Numbers", table(rows_of(found), HEADINGS, numbers=range(1, len(HEADINGS)))))
    return page("Messages between two processes", lead, sections, figures)


def rows_of(found: Table) -> list[list[str]]:
    """One line for each route. The column of the comparison is latency minus latency of TCP without MPI,
    if both routes have the same partition and the same number of nodes."""
    summaries = {route: summary_of(points) for route, points in found.points.items()}
    out = []
    for route, each in summaries.items():
        references = [name for name in _references(route) if found.nodes.get(name) == found.nodes[route]]
        reference = next((summaries[name] for name in references if name in summaries), None)
        over = NOT_COMPARED if reference is None else f"{1e6 * (each.latency_s - reference.latency_s):+.3g} µs"
        rate = f"{each.rate / 1e6:.4g}"
        out.append(
            [route, f"{1e6 * each.latency_s:.3g}", over, rate, shown_size(each.rate_at), shown_size(each.half_size)]
        )
    return out


def _references(route: str) -> tuple[str, str]:
    """The routes over TCP without MPI: on one node, and where the ranks of the same MPI are."""
    whole, at, partition = route.partition("@")
    name, plus, mapping = whole.partition("+")
    return f"{_REFERENCE}{at}{partition}", f"{name.partition('/')[0]}/{BETWEEN}{plus}{mapping}{at}{partition}"


def _throughput(found: Table) -> Figure:
    about = "Message size divided by half of a round trip."
    figure = _lines(found, "throughput", "Throughput", about, lambda size, t: (size, size / t / 1e6), 1)
    figure.layout |= {
        "xaxis": axis("message size in bytes", type="log"),
        "yaxis": axis("throughput in MB/s", type="log"),
    }
    return figure


def _latency(found: Table) -> Figure:
    about = "Half of a round trip, for small messages, with the 95 % interval of the median."
    figure = _lines(found, "latency", "Latency", about, lambda size, t: (size, t * 1e6), 1, _SMALL)
    for line, points in zip(figure.data, found.points.values(), strict=True):
        there = [each for size, each in points.items() if 1 <= size <= _SMALL]
        line["error_y"] = error_bars(there)
    figure.layout |= {
        "xaxis": axis("message size in bytes", type="log"),
        "yaxis": axis("half round trip in µs", type="log"),
    }
    return figure


def _signature(found: Table) -> Figure:
    about = (
        "Throughput against time. The line begins at the latency. Where a line turns back, larger messages are slower "
        "than smaller ones."
    )
    figure = _lines(found, "signature", "Signature", about, lambda size, t: (t * 1e6, size / t / 1e6), 1)
    figure.layout |= {
        "xaxis": axis("half round trip in µs", type="log"),
        "yaxis": axis("throughput in MB/s", type="log"),
    }
    return figure


def _lines(
    found: Table,
    key: str,
    title: str,
    about: str,
    place: Callable[[int, float], tuple[float, float]],
    least: int,
    most: int = 2**62,
) -> Figure:
    """One line for each route. ``place``: from a size in bytes and its half round trip in seconds to a point of the
    plot."""
    figure = Figure(key, title, about, [], layout(height=480, legend={"x": 1.02, "y": 1}))
    for number, (route, points) in enumerate(found.points.items()):
        at = [place(size, each.median) for size, each in _between(points, least, most)]
        colour, again = _COLOURS[number % len(_COLOURS)], number // len(_COLOURS)
        figure.data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": text(route),
                "x": [x for x, _ in at],
                "y": [y for _, y in at],
                "line": {"color": colour, "dash": _DASHES[(number + again) % len(_DASHES)], "width": 1.5},
                "marker": {"symbol": _SYMBOLS[(number + 3 * again) % len(_SYMBOLS)], "size": 5, "color": colour},
            }
        )
    return figure


def _between(points: dict[int, Interval], least: int, most: int) -> list[tuple[int, Interval]]:
    return [(size, each) for size, each in points.items() if least <= size <= most and each.median > 0]
