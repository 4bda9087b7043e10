"""``culmen rescue``."""

from pathlib import Path
from typing import Annotated

import typer

from . import work
from .arguments import StoreFile


def rescue(
    store: StoreFile,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="NEW.db", help="The new store. Default: STUDY.rescued.db."),
    ] = None,
) -> None:
    if not work.rescue.rescue_store(store, output):
        raise typer.Exit(1)
