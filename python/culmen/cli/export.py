"""``culmen export``."""

from pathlib import Path
from typing import Annotated

import typer

from . import work
from .arguments import Force, StoreFile


def export(
    store: StoreFile,
    csv: Annotated[bool, typer.Option("--csv", help="Text, one line an evaluation; this is the default.")] = False,
    json: Annotated[bool, typer.Option("--json", help="An array of objects, with residuals.")] = False,
    parquet: Annotated[bool, typer.Option("--parquet", help="Columns of Apache Parquet, with residuals.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Its ending may tell the format; default: standard output."
        ),
    ] = None,
    force: Force = False,
) -> None:
    given = {"csv": csv, "json": json, "parquet": parquet}
    work.export.export_store(store, [name for name, wanted in given.items() if wanted], output, force)
