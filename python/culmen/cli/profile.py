"""``culmen profile``, and its member ``culmen profile report``."""

from pathlib import Path
from typing import Annotated

import typer

from . import work
from .arguments import MpiOfCommand


def profile(
    context: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Option("--output", metavar="FOLDER", help="Folder for the profile. Default: profile-1, profile-2, …"),
    ] = None,
    imbalance: Annotated[
        int | None,
        typer.Option(
            "--imbalance",
            metavar="N",
            min=1,
            show_default=False,
            help="Measure how long ranks wait for late ranks. culmen makes this measurement in one of N calls of "
            "collectives and of MPI_Recv, and for one of N messages of MPI_Irecv.",
        ),
    ] = None,
    mpi: MpiOfCommand = None,
) -> None:
    raise typer.Exit(work.profile.run(list(context.args), folder, imbalance or 0, mpi))


def report(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the profile.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    html: Annotated[bool, typer.Option("--html", help="Write FOLDER/profile.html, a page with plots.")] = False,
    functions: Annotated[
        str | None,
        typer.Option("--functions", metavar="NAME,…", help="Show only these functions, for example Allreduce,I*."),
    ] = None,
    communicators: Annotated[
        str | None,
        typer.Option(
            "--communicators",
            metavar="NAME,…",
            help="Show only these communicators, windows and files, for example world,world/split*.",
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            metavar="SIZE-SIZE",
            help="Show only the size classes that have at least one size in this range, for example 1K-4M. Also show "
            "a table of the sizes.",
        ),
    ] = None,
    world: Annotated[
        int | None,
        typer.Option(
            "--world",
            metavar="N",
            min=1,
            show_default=False,
            help="Show this world, if the command started several worlds. Default: the world with the most time.",
        ),
    ] = None,
    all_: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Show all rows of the table, not only the 15 rows with the most time. Also show a table of the sizes.",
        ),
    ] = False,
) -> None:
    raise typer.Exit(work.profile.report(folder, json, html, functions, communicators, sizes, world, all_))
