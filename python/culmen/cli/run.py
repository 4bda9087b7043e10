"""``culmen run``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from . import work
from .arguments import (
    Agreement,
    Certificate,
    Digits,
    Fix,
    Insecure,
    IoThreads,
    LargestMessage,
    Listen,
    NoErrors,
    NoPrefetch,
    Quiet,
    Searches,
    StudyFile,
    TokenFile,
    digits_of,
    fixed_values,
)
from .given import with_settings


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
            help="The store to write. Default: as in the study, otherwise NAME.db in the current folder.",
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
    listen: Listen = None,
    token_file: TokenFile = None,
    certificate: Certificate = None,
    insecure: Insecure = False,
    io_threads: IoThreads = 1,
    largest_message_mib: LargestMessage = 1024,
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
        door=work.run.door_of(listen, token_file, certificate, insecure, io_threads, largest_message_mib),
    )
    raise typer.Exit(code)
