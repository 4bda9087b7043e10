"""``culmen profile``."""

from pathlib import Path
from typing import Annotated

import typer

from . import work


def profile(
    context: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Option("--output", metavar="FOLDER", help="Folder for the profile. Default: profile-1, profile-2, …"),
    ] = None,
) -> None:
    raise typer.Exit(work.profile.profile_or_report(list(context.args), folder))
