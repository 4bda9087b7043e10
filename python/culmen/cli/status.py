"""``culmen status``."""

from typing import Annotated

import typer

from . import work
from .arguments import StoreFile


def status(
    store: StoreFile,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Repeat the display until the run ends, or until Ctrl-C.")
    ] = False,
    every: Annotated[
        float | None, typer.Option(min=0.1, metavar="SECONDS", help="Time between two displays of --watch. Default: 2.")
    ] = None,
) -> None:
    raise typer.Exit(work.status.show_status(store, json, watch, every))
