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
        bool, typer.Option("--profile", help="Also compute profile-likelihood intervals, which may be asymmetric.")
    ] = False,
    confidence: Annotated[
        float | None, typer.Option(help="Confidence level of these intervals; default: 0.683, one standard deviation.")
    ] = None,
    up: Annotated[
        float,
        typer.Option(help="How much the value rises over one error: 1 for a χ², 0.5 for ±log L."),
    ] = 1.0,
    again: Annotated[bool, typer.Option("--again", help="Compute the errors even if the store holds them.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    raise typer.Exit(work.errors.show_errors(store, workers, profile, confidence, up, again, json))
