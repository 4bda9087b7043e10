"""``culmen errors``."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from . import work
from .arguments import (
    Digits,
    StoreFile,
    digits_of,
    fixed_values,
)
from .given import NOT_GIVEN, with_settings
from .settings import Workers


@with_settings
def errors(
    store: StoreFile,
    workers: Workers = None,
    profile: Annotated[
        bool,
        typer.Option(
            "--profile", help="Also compute confidence intervals from the profile likelihood. They may be asymmetric."
        ),
    ] = False,
    confidence: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Confidence level for --profile. Default: 0.683, which corresponds to one standard deviation.",
        ),
    ] = None,
    up: Annotated[
        float,
        typer.Option(
            metavar="X",
            help="Only if the evaluator returns a value instead of residuals: the increase of the value if a parameter "
            "moves by its error and the other parameters are fitted again. Give 1 for a χ², and 0.5 for a negative "
            "log-likelihood.",
        ),
    ] = 1.0,
    again: Annotated[
        bool, typer.Option("--again", help="Compute the errors again, even if the store contains them.")
    ] = False,
    fix: Annotated[
        list[str] | None,
        typer.Option(
            "--fix",
            metavar="NAME=VALUE",
            help="Fix a parameter at this value, and fit the other parameters again. Repeat the option for more "
            "parameters. You cannot use this option together with --listen.",
        ),
    ] = None,
    accept_changes: Annotated[
        bool,
        typer.Option("--accept-changes", help="Compute the errors even if the evaluator or its data have changed."),
    ] = False,
    listening: Mapping[str, Any] = NOT_GIVEN,
    digits: Digits = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    code = work.errors.show_errors(
        store,
        workers,
        profile,
        confidence,
        up,
        again,
        json,
        accept_changes,
        fixed_values(fix),
        digits_of(digits),
        work.run.door_of(listening),
    )
    raise typer.Exit(code)
