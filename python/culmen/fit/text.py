"""Errors as people read them."""

from io import StringIO
from typing import Any

from rich.console import Console
from rich.table import Table

from ..run.result import shown
from .errors import Errors, Interval

_WIDEST_MATRIX = 16


def as_text(errors: Errors) -> str:
    out = StringIO()
    show(errors, Console(file=out, width=160, highlight=False, markup=False))
    return out.getvalue().rstrip("\n")


def show(errors: Errors, console: Console) -> None:
    """The parameters, the correlations, the scale, and what is to be said besides."""
    console.print(_parameters(errors))
    if 1 < len(errors.free) <= _WIDEST_MATRIX:
        console.print(_correlations(errors))
    for sentence in errors.lines:
        console.print(sentence, soft_wrap=True)


def as_rows(errors: Errors) -> tuple[list[list[str]], list[str]]:
    """A row a parameter, and what heads them."""
    profiled = errors.confidence is not None and not errors.lower_minimum
    headings = ["parameter", "best value", errors.column]
    headings += ["± × S"] if errors.residuals else []
    headings += [f"profile, {errors.confidence:.3g}"] if profiled else []
    rows = []
    for p in errors.parameters:
        row = [p.name, shown(p.value, 10), p.shown]
        if errors.residuals:
            row.append("" if p.scaled is None else f"{p.scaled:.3g}")
        if profiled:
            row.append(_shown_interval(p.value, p.interval) if p.interval else "")
        rows.append([*row, p.note])
    return (rows, [*headings, ""]) if any(p.note for p in errors.parameters) else ([row[:-1] for row in rows], headings)


def _parameters(errors: Errors) -> Table:
    rows, headings = as_rows(errors)
    table = Table(*headings)
    for row in rows:
        table.add_row(*row)
    return table


def _shown_interval(value: Any, interval: Interval) -> str:
    lower = interval.lower_note if interval.lower is None else f"{interval.lower - value:.3g}"
    upper = interval.upper_note if interval.upper is None else f"{interval.upper - value:+.3g}"
    return f"{lower} / {upper}"


def _correlations(errors: Errors) -> Table:
    table = Table("correlation", *errors.free)
    for name, row in zip(errors.free, errors.correlation, strict=True):
        table.add_row(name, *(f"{c:.3f}" for c in row))
    return table
