"""``culmen resume``."""

from typing import Any

import typer

from . import work
from .arguments import AcceptChanges, Agreement, NoErrors, NoPrefetch, Quiet, StoreFile
from .given import with_settings


@with_settings
def resume(
    store: StoreFile,
    given: dict[str, Any],
    agreement: Agreement = None,
    no_prefetch: NoPrefetch = False,
    no_errors: NoErrors = False,
    accept_changes: AcceptChanges = False,
    quiet: Quiet = False,
) -> None:
    given = {**given, "agreement": agreement}
    code = work.run.resume_study(
        store, given, prefetch=not no_prefetch, quiet=quiet, errors=not no_errors, accept_changes=accept_changes
    )
    raise typer.Exit(code)
