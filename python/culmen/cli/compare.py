"""``culmen compare``."""

from pathlib import Path

from rich.table import Table

from .._core import InputError
from ..report.compare import compare_page, comparison, differences, labels
from ..report.files import replacing
from ..report.table import read
from .summary import console


def compare_stores(first: Path, second: Path, html: Path | None) -> None:
    a, b = read(first, "compare"), read(second, "compare")
    if first.resolve() == second.resolve():
        raise InputError(f"{first} is given twice; two stores are wanted")
    _print(comparison(a, b), "", *labels(a, b))
    changed = differences(a, b)
    if changed:
        _print(changed, "settings that differ", *labels(a, b))
    else:
        print("No setting that the stores keep differs.")
    if html is not None:
        page = compare_page(a, b)
        with replacing(html) as path:
            path.write_text(page, encoding="utf-8")
        print(f"The comparison is in {html}")


def _print(rows: list[tuple[str, str, str]], *headings: str) -> None:
    table = Table(*headings)
    for row in rows:
        table.add_row(*row)
    console().print(table)
