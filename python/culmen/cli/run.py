"""``culmen run``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from . import work
from .arguments import (
    Agreement,
    Digits,
    Fix,
    NoErrors,
    NoPrefetch,
    Quiet,
    Searches,
    StudyFile,
    digits_of,
    fixed_values,
)
from .given import NOT_GIVEN, with_settings


@with_settings
def run(
    study: StudyFile,
    given: dict[str, Any],
    worker_processes: Annotated[
        bool,
        typer.Option("--worker-processes", help="Run each worker as a separate process. No effect under MPI."),
    ] = False,
    threads: Annotated[
        bool, typer.Option("--threads", help="Run each worker as a thread of the master (default).")
    ] = False,
    fix: Fix = None,
    agreement: Agreement = None,
    searches: Searches = None,
    no_prefetch: NoPrefetch = False,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="The store to write. Default: as in the study file, otherwise NAME.db in the current folder.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**63 - 1, metavar="N", help="Seed of the random numbers. Default: as in the study."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Delete the study in the store and start from the beginning.")
    ] = False,
    no_errors: NoErrors = False,
    digits: Digits = None,
    listening: Mapping[str, Any] = NOT_GIVEN,
    quiet: Quiet = False,
) -> None:
    place = work.run.place_of(threads, worker_processes)
    code = work.run.run_study(
        study,
        {**given, "agreement": agreement, "searches": searches},
        place=place,
        prefetch=not no_prefetch,
        store=store,
        seed=seed,
        fix=fixed_values(fix),
        overwrite=overwrite,
        quiet=quiet,
        errors=not no_errors,
        digits=digits_of(digits),
        door=work.run.door_of(listening),
    )
    raise typer.Exit(code)
