"""``culmen run``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from . import work
from .arguments import NoErrors, NoPrefetch, Quiet, StudyFile
from .given import with_settings


@with_settings
def run(
    study: StudyFile,
    given: dict[str, Any],
    worker_processes: Annotated[
        bool, typer.Option("--worker-processes", help="Workers are processes of their own, not threads of the master.")
    ] = False,
    threads: Annotated[
        bool, typer.Option("--threads", help="Workers are threads of the master, also where processes are usual.")
    ] = False,
    no_prefetch: NoPrefetch = False,
    store: Annotated[
        Path | None,
        typer.Option(help="The store to make; default: the study file's, else NAME.db in the current folder."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, max=2**63 - 1, help="Instead of the study file's.")] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Begin anew where the store holds a study already.")
    ] = False,
    no_errors: NoErrors = False,
    quiet: Quiet = False,
) -> None:
    place = "threads" if threads else "processes" if worker_processes else "auto"
    raise typer.Exit(
        work.run.run_study(study, given, place, not no_prefetch, store, seed, overwrite, quiet, not no_errors)
    )
