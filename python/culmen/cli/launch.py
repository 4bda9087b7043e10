"""``culmen launch``."""

from typing import Annotated, Any

import typer

from ..base.terminal import draw_through_pipes
from ..launch import launcher
from . import work


def launch(
    context: typer.Context,
    n: Annotated[
        int,
        typer.Option(
            "-n",
            metavar="N",
            min=2,
            max=65_536,
            help="Number of ranks: one master, the workers, and one relay on each node except the node of the master.",
        ),
    ],
    mpi: Annotated[
        str | None,
        typer.Option(
            help="The MPI to use: openmpi, mpich, intel or the path of an mpiexec. Default: the MPI of the mpiexec in "
            "PATH."
        ),
    ] = None,
    hosts: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME,…",
            help="Start the same number of ranks on each of these machines. If this is not possible, the first "
            "machines get one rank more than the others. By default, the MPI chooses the machines.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the mpiexec line.")] = False,
) -> None:
    draw_through_pipes()
    arguments = list(context.args)
    commands: dict[str, Any] = context.find_root().command.commands  # type: ignore[attr-defined]  # of a group

    def given_to_run(words: list[str]) -> dict[str, Any]:
        return commands["run"].make_context("run", words, resilient_parsing=True).params

    def how_to_continue() -> str:
        return work.launch.how_to_continue(n, mpi, hosts, arguments, given_to_run)

    raise typer.Exit(launcher.launch(n, arguments, list(commands), mpi, dry_run, how_to_continue, hosts))
