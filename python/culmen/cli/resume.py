"""``culmen resume``."""

from collections.abc import Mapping
from typing import Any

import typer

from . import work
from .arguments import (
    AcceptChanges,
    Agreement,
    Digits,
    NoErrors,
    NoPrefetch,
    Quiet,
    Searches,
    StoreFile,
    digits_of,
)
from .given import NOT_GIVEN, with_settings


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
    listening: Mapping[str, Any] = NOT_GIVEN,
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
        door=work.run.door_of(listening),
    )
    raise typer.Exit(code)
