"""The result of simulated runs as one HTML page."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ..report.page import Section, page, place_of, table, text
from ..report.style import BLACK, BLUE, GREY, ORANGE, VERMILLION, Figure, axis, layout
from .reasons import knee_of, shortage_of
from .rows import CURVE, VARIATIONS, curve_rows, variation_rows
from .sweep import EVALUATIONS_PER_WORKER, Point, Sweep


def simulation_page(title: str, facts: Mapping[str, str], sweep: Sweep) -> str:
    """HTML that needs no other file. ``facts``: the assumptions, and the figures of the run."""
    figures = [_utilisation(sweep.curve), _rate(sweep.curve)] if sweep.curve else []
    sections = [Section("run", "The run", table(facts.items()))]
    if sweep.curve:
        drawn = "".join(f"<h3>{text(f.title)}</h3>{place_of(f)}" for f in figures)
        numbers = table(curve_rows(sweep.curve), CURVE, numbers=range(5))
        shortage = shortage_of(sweep.curve, sweep.main.evaluations) if sweep.main else ""
        about_it = f"<p>{text(f'{knee_of(sweep.curve)} {shortage}'.strip())}</p>"
        sections.append(Section("curve", "Number of workers", f"{about_it}{drawn}{numbers}"))
    if sweep.variations:
        rows = table(variation_rows(sweep.variations), VARIATIONS, numbers=range(1, 5))
        about = (
            "<p>The same cluster, with one part of the network ten times as fast or as slow. Each run has at most "
            f"{EVALUATIONS_PER_WORKER} evaluations per worker.</p>"
        )
        sections.append(Section("network", "The network", about + rows))
    now = time.strftime("%Y-%m-%d %H:%M:%S %z")
    lead = f"<p>Simulated by culmen on {text(now)}. No evaluation was made.</p>"
    return page(title, lead, sections, figures)


def _utilisation(curve: Sequence[Point]) -> Figure:
    workers = [point.workers for point in curve]
    data = [
        _line("utilisation of the workers", workers, [p.figures.steady_utilisation for p in curve], BLUE, "circle"),
        _line("load of the master", workers, [p.figures.master_load for p in curve], VERMILLION, "square", "dash"),
        _line("load of the store's thread", workers, [p.figures.writer_load for p in curve], GREY, "x", "dot"),
    ]
    drawn = layout()
    drawn["xaxis"] = axis("workers", type="log", dtick=1)
    drawn["yaxis"] = axis("share", range=[0, 1.05], tickformat=".0%")
    about = "The share of the time in which the workers evaluate, and in which the master works; 100 % is one core."
    return Figure("utilisation", "Utilisation and load", about, data, drawn)


def _rate(curve: Sequence[Point]) -> Figure:
    workers = [point.workers for point in curve]
    lone = curve[0].figures
    ideal = [lone.steady_rate / max(lone.steady_utilisation, 1e-9) * w / curve[0].workers for w in workers]
    data = [
        _line("all workers always busy", workers, ideal, BLACK, None, "dash"),
        _line("simulated", workers, [p.figures.steady_rate for p in curve], ORANGE, "circle"),
    ]
    drawn = layout()
    drawn["xaxis"] = axis("workers", type="log", dtick=1)
    drawn["yaxis"] = axis("evaluations per second", type="log", dtick=1)
    about = "Evaluations per second, without the start and the end of the run."
    return Figure("rate", "Evaluations per second", about, data, drawn)


def _line(
    name: str, x: list[int], y: list[float], color: str, symbol: str | None, dash: str = "solid"
) -> dict[str, Any]:
    line = {"color": color, "width": 2, "dash": dash}
    drawn = {"type": "scatter", "name": name, "mode": "lines", "x": x, "y": y, "line": line}
    if symbol:
        drawn |= {"mode": "lines+markers", "marker": {"symbol": symbol, "size": 8, "color": color}}
    return drawn
