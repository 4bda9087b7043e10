"""``culmen resume``."""

from typing import Any

import typer

from . import work
from .arguments import AcceptChanges, Agreement, Digits, NoErrors, NoPrefetch, Quiet, StoreFile, digits_of
from .given import with_settings


@with_settings
def resume(
    store: StoreFile,
    given: dict[str, Any],
    agreement: Agreement = None,
    no_prefetch: NoPrefetch = False,
    no_errors: NoErrors = False,
    digits: Digits = None,
    accept_changes: AcceptChanges = False,
    quiet: Quiet = False,
) -> None:
    given = {**given, "agreement": agreement}
    code = work.run.resume_study(
        store,
        given,
        prefetch=not no_prefetch,
        quiet=quiet,
        errors=not no_errors,
        accept_changes=accept_changes,
        digits=digits_of(digits),
    )
    raise typer.Exit(code)
