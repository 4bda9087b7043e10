"""``culmen report``."""

import webbrowser
from pathlib import Path

from ...report.build import report
from ...report.files import replacing
from ...report.page import PAGE
from ...report.reading import read
from ...report.style import counted
from .notes import note


def write_report(store: Path, output: Path | None, show: bool, force: bool) -> None:
    table = read(store)
    note(table.opened.without_log)
    target = output or store.with_suffix(".html")
    with replacing(target, PAGE, force) as path:
        path.write_text(report(table), encoding="utf-8")
    print(f"Wrote the report on {counted(len(table), 'evaluation')} to {target}")
    if show and not webbrowser.open(target.resolve().as_uri()):
        print(f"No browser could be started here (is there a display?); open {target} yourself.")
