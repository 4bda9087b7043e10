"""``culmen resume``."""

from typing import Any

import typer

from . import work
from .arguments import NoErrors, NoPrefetch, Quiet, StoreFile
from .given import with_settings


@with_settings
def resume(
    store: StoreFile,
    given: dict[str, Any],
    no_prefetch: NoPrefetch = False,
    no_errors: NoErrors = False,
    quiet: Quiet = False,
) -> None:
    raise typer.Exit(work.run.resume_study(store, given, not no_prefetch, quiet, not no_errors))
