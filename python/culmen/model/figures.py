"""Models over measured times, as one HTML page."""

import time
from collections.abc import Iterator, Sequence

import numpy as np

from .. import _core
from ..launch.mpi.collectives import DEFAULT
from ..report.page import Section, page, place_of, table, text
from ..report.style import GREY, LINE_COLOURS, SYMBOLS, Figure, axis, layout
from .algorithms import model_of
from .compare import HEADINGS as COMPARED
from .compare import Parted
from .measured import Place, Series
from .point_to_point import Network
from .rows import HEADINGS, MESSAGE, Modelled, shown_rows

_POINTS = 80  # of a line


def models_page(
    models: Sequence[Modelled], parted: Sequence[Parted], networks: dict[str, Network], sentences: Sequence[str]
) -> str:
    """HTML. ``models``: those that are drawn. ``sentences``: where models and measurements part."""
    figures = list(_figures(models, networks))
    lead = f"<p>culmen model; {text(_core.build)}; as of {time.strftime('%Y-%m-%d %H:%M:%S %z')}.</p>"
    sections = [Section(f"section-{f.key}", f.title, place_of(f)) for f in figures]
    sections.append(Section("coefficients", "Coefficients", table(shown_rows(models), HEADINGS, numbers=(4, 5, 6, 7))))
    if parted:
        said = "".join(f"<p>{text(sentence)}</p>" for sentence in sentences)
        rows = table([each.row() for each in parted], COMPARED, numbers=(2, 3, 4, 5))
        sections.append(Section("compared", "Measured times and analytic models", rows + said))
    return page("Models of collectives", lead, sections, figures)


def _figures(models: Sequence[Modelled], networks: dict[str, Network]) -> Iterator[Figure]:
    groups: dict[tuple[str, str, str, int], list[Modelled]] = {}
    for each in models:
        s = each.series
        groups.setdefault((s.mpi, s.collective, s.over, s.at), []).append(each)
    for number, (key, same) in enumerate(groups.items()):
        yield _figure(number, key, same, networks.get(key[0]))


def _figure(number: int, key: tuple[str, str, str, int], same: list[Modelled], net: Network | None) -> Figure:
    mpi, collective, over, at = key
    over_size = over == "size"
    where = "" if collective == MESSAGE else f", {at} ranks" if over_size else f", {at} bytes"
    about = (
        "Points: the median times that were measured. Lines: their models. Crossed out: outliers. Dotted: the analytic "
        "model from messages between two ranks. Size 0 is not drawn."
    )
    plain = layout(height=500)
    kind = {"type": "log"} if over_size else {}
    plain |= {
        "xaxis": axis("message size in bytes" if over_size else "ranks", **kind),
        "yaxis": axis("time in µs", **kind),
        "legend": {"x": 1.02, "y": 1},
    }
    data = [part for k, each in enumerate(same) for part in _parts(k, each, net)]
    title = f"{collective}{where}" + (f", {mpi}" if mpi else "")
    return Figure(f"model-{number}", title, about, data, plain)


def _parts(number: int, each: Modelled, net: Network | None) -> Iterator[dict]:
    """The points, the model, and the analytic model."""
    s, colour = each.series, LINE_COLOURS[number % len(LINE_COLOURS)]
    colour = GREY if s.algorithm == DEFAULT else colour
    name = text(f"{s.algorithm}, {each.name}" if s.collective == MESSAGE else s.algorithm)
    kept = [k for k, x in enumerate(s.x) if x > 0]
    weights = each.found.weights if each.found else [1.0] * len(s.x)
    symbol = SYMBOLS[number % len(SYMBOLS)]
    yield {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "legendgroup": name,
        "x": [s.x[k] for k in kept],
        "y": [1e6 * s.y[k] for k in kept],
        "marker": {"color": colour, "size": 7, "symbol": [symbol if weights[k] > 0 else "x-thin-open" for k in kept]},
    }
    yield _line(name, colour, "solid", *_model_points(each))
    if net is not None and (analytic := _analytic(s, net)):
        yield _line(name, colour, "dot", [s.x[k] for k in kept], [1e6 * analytic[k] for k in kept])


def _line(name: str, colour: str, dash: str, x: list[float], y: Sequence[float | None]) -> dict:
    line = {"color": colour, "dash": dash, "width": 1.5}
    shared = {"name": name, "legendgroup": name, "showlegend": False, "hoverinfo": "skip"}
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": line, **shared}


def _model_points(each: Modelled) -> tuple[list[float], list[float | None]]:
    """With a gap between segments that do not touch. Times of 0 and less are not drawn."""
    xs: list[float] = []
    ys: list[float | None] = []
    for lower, upper, intercept, slope in each.lines:
        first = max(lower, 1.0)
        spaced = np.geomspace if each.series.over == "size" else np.linspace
        for x in spaced(first, max(upper, first), _POINTS).tolist():
            y = 1e6 * (intercept.value + slope.value * x)
            xs.append(x)
            ys.append(y if y > 0 else None)
        xs.append(upper)
        ys.append(None)
    return xs, ys


def _analytic(s: Series, net: Network) -> list[float]:
    """Seconds for each point; empty without a model."""
    model = model_of(s.collective, s.algorithm)
    if model is None:
        return []
    places = [Place(s.at, int(x)) if s.over == "size" else Place(int(x), s.at) for x in s.x]
    return [model(*place).time(net.send, net.reduce_s) for place in places]
