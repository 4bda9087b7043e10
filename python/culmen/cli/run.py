"""``culmen run``."""

from pathlib import Path
from typing import Annotated

import typer

from . import work
from .arguments import Evaluations, NoErrors, NoPrefetch, Quiet, Stagnation, StudyFile, Target, WallTime, Workers


def run(
    study: StudyFile,
    workers: Workers = None,
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
    evaluations: Evaluations = None,
    target: Target = None,
    stagnation: Stagnation = None,
    wall_time: WallTime = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Begin anew where the store holds a study already.")
    ] = False,
    no_errors: NoErrors = False,
    quiet: Quiet = False,
) -> None:
    place = "threads" if threads else "processes" if worker_processes else "auto"
    given = {
        "evaluations": evaluations,
        "target": target,
        "stagnation": stagnation,
        "wall_time_s": wall_time,
        "workers": workers,
    }
    raise typer.Exit(
        work.run.run_study(study, given, place, not no_prefetch, store, seed, overwrite, quiet, not no_errors)
    )
