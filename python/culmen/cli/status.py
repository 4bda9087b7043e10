"""``culmen status``."""

from typing import Annotated

import typer

from . import work
from .arguments import StoreFile


def status(
    store: StoreFile,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it again and again until nobody runs the study.")
    ] = False,
    every: Annotated[
        float | None, typer.Option(min=0.1, metavar="SECONDS", help="Seconds between two looks of --watch; default: 2.")
    ] = None,
) -> None:
    raise typer.Exit(work.status.show_status(store, json, watch, every))
