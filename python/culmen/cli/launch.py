"""``culmen launch``."""

from typing import Annotated

import typer

from ..base.terminal import draw_through_pipes
from ..launch import launcher
from .commands import COMMANDS


def launch(
    context: typer.Context,
    n: Annotated[int, typer.Option("-n", min=2, max=65_536, help="Ranks: one master and n - 1 workers.")],
    mpi: Annotated[
        str | None,
        typer.Option(help="Which MPI: openmpi or mpich; default: CULMEN_MPI, else what mpiexec says it is."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the mpiexec line only.")] = False,
) -> None:
    draw_through_pipes()
    raise typer.Exit(launcher.launch(n, context.args, list(COMMANDS), mpi, dry_run))
