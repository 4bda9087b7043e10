"""``culmen report``."""

import webbrowser
from pathlib import Path

from ..._core import InputError
from ...report.build import report
from ...report.files import replacing
from ...report.page import PAGE
from ...report.reading import read
from ...report.style import counted
from ...store.table import Table
from .notes import note
from .points import is_benchmark


def write_report(store: Path, output: Path | None, show: bool, force: bool) -> None:
    table = read(store)
    note(table.opened.without_log)
    target = output or store.with_suffix(".html")
    if not force:
        _keep_page(table, target)
    with replacing(target, PAGE, force) as path:
        path.write_text(report(table), encoding="utf-8")
    print(f"Wrote the report on {counted(len(table), 'evaluation')} to {target}")
    if show and not webbrowser.open(target.resolve().as_uri()):
        print(f"No browser could be started here (is there a display?); open {target} yourself.")


def _keep_page(table: Table, target: Path) -> None:
    """Raises InputError if the target is the page that a benchmark has written itself."""
    own = table.path.with_suffix(".html")
    if is_benchmark(table.configuration) and own.exists() and target.resolve() == own.resolve():
        raise InputError(
            f"{target} is the page of `culmen {table.name}`, which this report would replace; to write the page again, "
            "repeat that command, or give this report another file with -o"
        )
