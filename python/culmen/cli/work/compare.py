"""``culmen compare``."""

from pathlib import Path

from rich.table import Table

from ..._core import InputError
from ...report.compare import compare_page, comparison, differences, labels
from ...report.files import replacing
from ...report.page import PAGE
from ...report.reading import read
from .notes import note
from .summary import console


def compare_stores(first: Path, second: Path, html: Path | None, force: bool) -> None:
    a, b = read(first, "compare"), read(second, "compare")
    for table in (a, b):
        note(table.opened.without_log)
    if first.resolve() == second.resolve():
        raise InputError(f"{first} is given twice; give two stores")
    _print(comparison(a, b), "", *labels(a, b))
    changed = differences(a, b)
    if changed:
        _print(changed, "settings that differ", *labels(a, b))
    else:
        print("The stores keep no setting that differs.")
    if html is not None:
        with replacing(html, PAGE, force, "--html") as path:
            path.write_text(compare_page(a, b), encoding="utf-8")
        print(f"Wrote the comparison to {html}")


def _print(rows: list[tuple[str, str, str]], *headings: str) -> None:
    table = Table(*headings)
    for row in rows:
        table.add_row(*row)
    console().print(table)
