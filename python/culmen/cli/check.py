"""``culmen check``."""

from typing import Annotated

import typer

from . import work
from .arguments import StudyFile


def check(
    study: StudyFile,
    evaluate: Annotated[
        int,
        typer.Option(
            min=0, max=100_000, metavar="N", help="Number of trial evaluations. culmen does not store their results."
        ),
    ] = 3,
) -> None:
    raise typer.Exit(work.check.check_study(study, evaluate))
