"""``culmen resume``."""

from typing import Any

import typer

from . import work
from .arguments import (
    AcceptChanges,
    Agreement,
    Certificate,
    Digits,
    Insecure,
    IoThreads,
    LargestMessage,
    Listen,
    NoErrors,
    NoPrefetch,
    Quiet,
    Searches,
    StoreFile,
    TokenFile,
    digits_of,
)
from .given import with_settings


@with_settings
def resume(
    store: StoreFile,
    given: dict[str, Any],
    agreement: Agreement = None,
    searches: Searches = None,
    no_prefetch: NoPrefetch = False,
    no_errors: NoErrors = False,
    digits: Digits = None,
    accept_changes: AcceptChanges = False,
    listen: Listen = None,
    token_file: TokenFile = None,
    certificate: Certificate = None,
    insecure: Insecure = False,
    io_threads: IoThreads = 1,
    largest_message_mib: LargestMessage = 1024,
    quiet: Quiet = False,
) -> None:
    given = {**given, "agreement": agreement, "searches": searches}
    code = work.run.resume_study(
        store,
        given,
        prefetch=not no_prefetch,
        quiet=quiet,
        errors=not no_errors,
        accept_changes=accept_changes,
        digits=digits_of(digits),
        door=work.run.door_of(listen, token_file, certificate, insecure, io_threads, largest_message_mib),
    )
    raise typer.Exit(code)
