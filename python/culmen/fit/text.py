"""Errors as tables and sentences for people."""

from io import StringIO
from typing import TYPE_CHECKING, Protocol

from ..base.text import shown

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_WIDEST_MATRIX = 16


class Readable(Protocol):
    """The shown part of Errors."""

    @property
    def free(self) -> list[str]: ...
    @property
    def correlation(self) -> list[list[float]]: ...
    def sentences(self, digits: int | None = None) -> list[str]: ...
    def as_rows(self, digits: int | None = None) -> tuple[list[list[str]], list[str]]: ...


def as_text(errors: Readable) -> str:
    from rich.console import Console

    out = StringIO()
    show(errors, Console(file=out, width=160, highlight=False, markup=False))
    return out.getvalue().rstrip("\n")


def show(errors: Readable, console: "Console", digits: int | None = None) -> None:
    """The parameters, the correlations, the scale, and remarks. ``digits``: see Errors.as_rows."""
    console.print(_parameters(errors, digits))
    if 1 < len(errors.free) <= _WIDEST_MATRIX:
        console.print(_correlations(errors, digits))
    for sentence in errors.sentences(digits):
        console.print(sentence, soft_wrap=True)


def _parameters(errors: Readable, digits: int | None) -> "Table":
    from rich.table import Table

    rows, headings = errors.as_rows(digits)
    table = Table(*headings)
    for row in rows:
        table.add_row(*row)
    return table


def _correlations(errors: Readable, digits: int | None) -> "Table":
    from rich.table import Table

    table = Table("correlation", *errors.free)
    for name, row in zip(errors.free, errors.correlation, strict=True):
        table.add_row(name, *(f"{c:.3f}" if digits is None else shown(c, digits) for c in row))
    return table
