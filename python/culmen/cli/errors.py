"""``culmen errors``."""

from typing import Annotated

import typer

from . import work
from .arguments import StoreFile
from .settings import Workers


def errors(
    store: StoreFile,
    workers: Workers = None,
    profile: Annotated[
        bool, typer.Option("--profile", help="Also intervals of the profile likelihood, which may be asymmetric.")
    ] = False,
    confidence: Annotated[
        float | None, typer.Option(help="Of these intervals; default: 0.683, that of one standard deviation.")
    ] = None,
    up: Annotated[
        float,
        typer.Option(help="By how much the value rises over one error: 1 where it is a χ², 0.5 where it is ±log L."),
    ] = 1.0,
    again: Annotated[bool, typer.Option("--again", help="Also where the store holds them already.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    raise typer.Exit(work.errors.show_errors(store, workers, profile, confidence, up, again, json))
