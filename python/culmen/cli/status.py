"""``culmen status``."""

from typing import Annotated

import typer

from . import work
from .arguments import Digits, StoreFile, digits_of


def status(
    store: StoreFile,
    digits: Digits = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show the status again and again, until the run ends or you press Ctrl-C.")
    ] = False,
    every: Annotated[
        float | None,
        typer.Option(min=0.1, metavar="SECONDS", help="With --watch: time between two displays. Default: 2."),
    ] = None,
) -> None:
    raise typer.Exit(work.status.show_status(store, json, watch, every, digits_of(digits)))
