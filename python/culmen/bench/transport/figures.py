"""The plots of a table of `culmen bench transport`, as one HTML page."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ...report.page import Section, page, place_of, table, text
from ...report.style import GREY, LINE_COLOURS, SYMBOLS, Figure, axis, layout
from ..drawing import lead_of
from .grid import shown_duration
from .point import TRANSPORTS, Point
from .rows import Rows, Value, difference

_COLOURS = (*LINE_COLOURS, GREY)
_SYMBOLS = (*SYMBOLS, "triangle-down")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_LINEAR_BELOW = 1.0  # per cent: below it the symmetric-log axis is linear

Pairs = Sequence[tuple[float, Value]]


def transport_page(rows: Rows, other: Rows | None = None, names: tuple[str, str] = ("A", "B")) -> str:
    """The HTML page. Figures without data are left out. ``other``: the same grid on another machine, for figure 6."""
    figures = [figure for figure in _figures(rows, other, names) if figure is not None]
    lead = lead_of("culmen bench transport", here=other is None)
    sections = [Section(f"section-{f.key}", f.title, place_of(f)) for f in figures]
    sections.append(Section("numbers", "Numbers", table(summary(rows), HEADINGS, numbers=range(1, len(HEADINGS)))))
    title = "Transports" if other is None else f"Transports: {names[0]} and {names[1]}"
    return page(title, lead, sections, figures)


def _figures(rows: Rows, other: Rows | None, names: tuple[str, str]) -> Iterator[Figure | None]:
    yield _speed_up(rows, "speed-up-tcp", "1. Speed-up with TCP", ("tcp", "tcp-per-item"))
    yield _speed_up(rows, "speed-up-websocket", "2. Speed-up with WebSocket", ("ws", "wss"))
    yield _gain(
        rows,
        "gain-mpi",
        "3. Gain of MPI over WebSocket",
        "The gain is the time of WebSocket (ws) divided by the time of MPI, minus 1. Above 0, MPI is faster.",
        [(p, replace(p, transport="ws")) for p in _plain(rows, "mpi")],
    )
    without = [p for p in rows.points if not p.prefetch]
    yield _gain(
        rows,
        "gain-prefetch",
        "4. Gain of prefetch",
        f"The gain is the time without prefetch divided by the time with prefetch, minus 1, for "
        f"{', '.join(sorted({p.name for p in without}))}. Above 0, prefetch is faster.",
        [(replace(p, prefetch=True), p) for p in without],
    )
    yield _io_threads(rows)
    if other is not None:
        yield _compared(rows, other, names)
    yield from _efficiencies(rows)


def _plain(rows: Rows, transport: str) -> list[Point]:
    """The points of a transport with the usual options."""
    return [p for p in rows.points if p.transport == transport and p.is_plain]


def _by_duration(points: Iterable[Point]) -> dict[float, list[Point]]:
    found: dict[float, list[Point]] = {}
    for p in points:
        found.setdefault(p.evaluation_s, []).append(p)
    return dict(sorted(found.items()))


def _speed_up(rows: Rows, key: str, title: str, transports: tuple[str, ...]) -> Figure | None:
    """The speed-up against the number of workers, with the ideal line."""
    about = (
        "The speed-up is the time of one worker for an evaluation, divided by the time of all workers for one. The "
        "grey line is the ideal: the number of workers."
    )
    figure = Figure(key, title, about, [], layout())
    most = 1
    for k, name in enumerate(transports):
        for colour, (duration_s, points) in enumerate(_by_duration(_plain(rows, name)).items()):
            pairs = [(p.workers, value) for p in points if (value := rows.speed_up(p)) is not None]
            most = max([most, *(x for x, _ in pairs)])
            _add(figure, f"{name}, {shown_duration(duration_s)}", pairs, colour, k)
    if not figure.data:
        return None
    line = {"color": GREY, "width": 1}
    figure.data.append(
        {"type": "scatter", "mode": "lines", "name": "ideal", "x": [1, most], "y": [1, most], "line": line}
    )
    figure.layout |= {"xaxis": _axis_of("workers", figure), "yaxis": axis("speed-up", type="log", dtick=1)}
    return figure


def _gain(rows: Rows, key: str, title: str, about: str, pairs: list[tuple[Point, Point]]) -> Figure | None:
    """The gain in per cent against the number of workers, with one line for each duration. ``pairs``: points and
    references."""
    reference = dict(pairs)

    def gain(p: Point) -> Value | None:
        return rows.gain(p, reference[p])

    return _per_cent(key, title, about, "gain in %", reference, gain)


def _compared(a: Rows, b: Rows, names: tuple[str, str]) -> Figure | None:
    shared = [p for p in a.points if b.has(p) and p.is_plain]
    about = (
        f"The difference is the time of an evaluation in {names[1]}, minus the time in {names[0]}, as a percentage of "
        f"the time in {names[0]}. Below 0, {names[1]} is faster."
    )
    figure = Figure("compared", f"6. Difference between {names[0]} and {names[1]}", about, [], layout())
    for dash, name in enumerate(dict.fromkeys(p.transport for p in shared)):
        groups = _by_duration(p for p in shared if p.transport == name)
        for colour, (duration_s, points) in enumerate(groups.items()):
            pairs = [(float(p.workers), difference(a, b, p)) for p in points]
            _add(figure, f"{points[0].name}, {shown_duration(duration_s)}", pairs, colour, dash, symmetric_log)
    if not figure.data:
        return None
    _finish_per_cent(figure, "difference in %")
    figure.layout |= {"height": max(420, 25 * len(figure.data)), "legend": {"x": 1.02, "y": 1}}
    return figure


def _per_cent(
    key: str,
    title: str,
    about: str,
    label: str,
    points: Iterable[Point],
    value_of: Callable[[Point], Value | None],
) -> Figure | None:
    figure = Figure(key, title, about, [], layout())
    for colour, (duration_s, group) in enumerate(_by_duration(points).items()):
        pairs = [(float(p.workers), value) for p in group if (value := value_of(p)) is not None]
        _add(figure, shown_duration(duration_s), pairs, colour, 0, symmetric_log)
    if not figure.data:
        return None
    _finish_per_cent(figure, label)
    return figure


def _io_threads(rows: Rows) -> Figure | None:
    """Efficiency at the largest number of workers that was measured with several I/O threads."""
    several = [p for p in rows.points if p.io_threads > 1]
    if not several:
        return None
    most = max(several, key=lambda p: p.workers)
    points = [p for p in rows.points if (p.transport, p.workers, p.prefetch) == (most.transport, most.workers, True)]
    about = f"Efficiency in the steady state with {most.transport} and {most.workers} workers."
    figure = Figure("io-threads", "5. Efficiency and I/O threads", about, [], layout())
    for colour, (duration_s, group) in enumerate(_by_duration(points).items()):
        ordered = sorted(group, key=lambda p: p.io_threads)
        _add(figure, shown_duration(duration_s), [(p.io_threads, rows.efficiency(p)) for p in ordered], colour, 0)
    figure.layout |= {"xaxis": _axis_of("I/O threads", figure), "yaxis": axis("efficiency", rangemode="tozero")}
    return figure


def _efficiencies(rows: Rows) -> Iterator[Figure]:
    """All transports and peers, one figure for each duration."""
    plain = [p for p in rows.points if p.is_plain]
    for duration_s, group in _by_duration(plain).items():
        about = (
            "The share of the time in which the workers evaluate, in the steady state: evaluations × duration of a "
            "lone evaluation / (workers × time). Dashed: other software."
        )
        title = f"Efficiency, evaluations of {shown_duration(duration_s)}"
        figure = Figure(f"efficiency-{duration_s:g}".replace(".", "_"), title, about, [], layout())
        for colour, name in enumerate(_ordered({p.transport for p in group})):
            points = [p for p in group if p.transport == name]
            pairs = [(float(p.workers), rows.efficiency(p)) for p in points]
            _add(figure, points[0].name, pairs, colour, int(points[0].is_peer))
        figure.layout |= {"xaxis": _axis_of("workers", figure), "yaxis": axis("efficiency", rangemode="tozero")}
        yield figure


def _ordered(names: Iterable[str]) -> list[str]:
    """The transports of culmen first."""
    return sorted(names, key=lambda name: (TRANSPORTS.index(name) if name in TRANSPORTS else len(TRANSPORTS), name))


def _add(
    figure: Figure, name: str, pairs: Pairs, colour: int, dash: int, scale: Callable[[float], float] = float
) -> None:
    """A line with error bars. ``scale``: from a value to its place on the axis."""
    if not pairs:
        return
    y = [scale(v.mean) for _, v in pairs]
    look = {"color": _COLOURS[colour % len(_COLOURS)], "dash": _DASHES[dash % len(_DASHES)], "width": 1.5}
    figure.data.append(
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": text(name),
            "x": [x for x, _ in pairs],
            "y": y,
            "line": look,
            "marker": {"symbol": _SYMBOLS[(colour + 3 * dash) % len(_SYMBOLS)], "size": 7, "color": look["color"]},
            "error_y": {
                "type": "data",
                "symmetric": False,
                "array": [scale(v.mean + v.error) - at for (_, v), at in zip(pairs, y, strict=True)],
                "arrayminus": [at - scale(v.mean - v.error) for (_, v), at in zip(pairs, y, strict=True)],
                "thickness": 1,
            },
            "hovertext": [f"{v.mean:.3g} ± {v.error:.2g}" for _, v in pairs],
            "hoverinfo": "x+name+text",
        }
    )


def symmetric_log(share: float) -> float:
    """The place of a share on an axis in per cent that is logarithmic away from 0, and linear within ± 1 %."""
    per_cent = 100 * share
    if abs(per_cent) <= _LINEAR_BELOW:
        return per_cent / _LINEAR_BELOW
    return math.copysign(1 + math.log10(abs(per_cent) / _LINEAR_BELOW), per_cent)


def _finish_per_cent(figure: Figure, label: str) -> None:
    """The axes; the vertical one has at least the range ± 1 %."""
    ends = [y for d in figure.data for y in _ends_of(d)]
    low, high = min([-1.0, *ends]), max([1.0, *ends])
    steps = range(-math.ceil(-low), math.ceil(high) + 1)
    figure.layout |= {
        "xaxis": _axis_of("workers", figure),
        "yaxis": axis(
            label,
            tickvals=list(steps),
            ticktext=[_per_cent_at(step) for step in steps],
            range=[low - 0.2, high + 0.2],
            zeroline=True,
            zerolinecolor="#444",
        ),
    }


def _ends_of(line: dict[str, Any]) -> Iterator[float]:
    """The ends of the error bars."""
    bars = line["error_y"]
    for y, above, below in zip(line["y"], bars["array"], bars["arrayminus"], strict=True):
        yield from (y + above, y - below)


def _per_cent_at(step: int) -> str:
    """The label at a whole place of the symmetric-log axis."""
    if step == 0:
        return "0"
    return f"{'+' if step > 0 else '−'}{_LINEAR_BELOW * 10 ** (abs(step) - 1):g}"


def _axis_of(title: str, figure: Figure) -> dict[str, Any]:
    """Logarithmic, with a tick at each number that was measured."""
    measured = sorted({x for line in figure.data for x in line["x"]})
    return axis(title, type="log", tickvals=measured, ticktext=[f"{x:g}" for x in measured])


HEADINGS = ["transport", "evaluation", "workers", "rate in 1/s", "efficiency", "of the whole run", "speed-up"]


def summary(rows: Rows) -> list[list[str]]:
    """A line for each point with the usual options."""
    plain = [p for p in rows.points if p.is_plain]
    out = []
    for name in _ordered({p.transport for p in plain}):
        for p in (p for p in plain if p.transport == name):
            rate = 1 / rows.time_of_item(p).mean
            values = (rows.efficiency(p), rows.efficiency_of_run(p), rows.speed_up(p))
            out.append([p.name, shown_duration(p.evaluation_s), str(p.workers), f"{rate:.4g}", *map(_shown, values)])
    return out


def _shown(value: Value | None) -> str:
    if value is None:
        return "–"
    return f"{value.mean:.3g}" + (f" ± {value.error:.1g}" if value.error else "")
