"""``culmen report``."""

from pathlib import Path
from typing import Annotated

import typer

from . import work
from .arguments import Force, StoreFile


def report(
    store: StoreFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The file to write. Default: STUDY.html in the folder of the store."
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    force: Force = False,
) -> None:
    work.report.write_report(store, output, show, force)
