"""``culmen report``."""

import webbrowser
from pathlib import Path

from ..report.build import report
from ..report.files import refuse_strange, replacing
from ..report.page import GENERATOR
from ..report.style import counted
from ..report.table import read


def write_report(store: Path, output: Path | None, show: bool) -> None:
    table = read(store)
    target = output or store.with_suffix(".html")
    if output is None:
        refuse_strange(target, GENERATOR)
    page = report(table)
    with replacing(target) as path:
        path.write_text(page, encoding="utf-8")
    print(f"The report on {counted(len(table), 'evaluation')} is in {target}")
    if show and not webbrowser.open(target.resolve().as_uri()):
        print("There is no browser to open it with.")
