"""``culmen export``."""

from pathlib import Path
from typing import Annotated

import typer

from . import work
from .arguments import Force, StoreFile


def export(
    store: StoreFile,
    csv: Annotated[bool, typer.Option("--csv", help="Write CSV: text with one line per evaluation.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Write JSON: an array of objects, with residuals.")] = False,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write Apache Parquet, with residuals.")] = False,
    store_copy: Annotated[
        bool, typer.Option("--store", help="Write a copy of the store. This option needs -o.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file to write. By default, its suffix selects the format. Default: standard output.",
        ),
    ] = None,
    force: Force = False,
) -> None:
    given = {"csv": csv, "json": json, "parquet": parquet, "store": store_copy}
    work.export.export_store(store, [name for name, wanted in given.items() if wanted], output, force)
