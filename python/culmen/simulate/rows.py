"""The figures of simulated runs as rows of tables."""

from collections.abc import Sequence

from .. import _core
from ..base.text import clock, grouped, per_second
from .reasons import limit_of
from .sweep import Point

CURVE = ("workers", "utilisation", "evaluations/s", "master", "store", "why workers wait")
VARIATIONS = ("network", "utilisation", "evaluations/s", "master", "whole run")
TEXTS = ("network", "why workers wait")  # columns that are no numbers


def curve_rows(curve: Sequence[Point]) -> list[tuple[str, ...]]:
    return [
        (
            grouped(p.workers),
            percent(p.figures.steady_utilisation),
            rate(p.figures),
            percent(p.figures.master_load),
            percent(p.figures.writer_load),
            limit_of(p) + ("" if p.whole else " (stopped early)"),
        )
        for p in curve
    ]


def variation_rows(variations: Sequence[Point]) -> list[tuple[str, ...]]:
    """The first one is the unchanged network."""
    return [
        (
            f"{p.network} × {p.factor:g}" if p.network else "as given",
            percent(p.figures.steady_utilisation),
            rate(p.figures),
            percent(p.figures.master_load),
            lasted_s(p.figures.wall_s) + ("" if p.whole else " (stopped early)"),
        )
        for p in variations
    ]


def percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.9995 else "100 %"


def rate(f: _core.SimulationFigures) -> str:
    return grouped(round(f.steady_rate)) if f.steady_rate >= 1000 else per_second(f.steady_rate).removesuffix("/s")


def lasted_s(seconds: float) -> str:
    """Hours, minutes and seconds; days if there are many; below ten minutes, in seconds."""
    if seconds < 600:
        return f"{seconds:.4g} s"
    return clock(seconds) if seconds < 100 * 3600 else f"{seconds / 86400:.4g} days"
