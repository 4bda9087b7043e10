"""``culmen resume``."""

import typer

from . import work
from .arguments import Evaluations, NoErrors, NoPrefetch, Quiet, Stagnation, StoreFile, Target, WallTime, Workers


def resume(
    store: StoreFile,
    workers: Workers = None,
    evaluations: Evaluations = None,
    target: Target = None,
    stagnation: Stagnation = None,
    wall_time: WallTime = None,
    no_prefetch: NoPrefetch = False,
    no_errors: NoErrors = False,
    quiet: Quiet = False,
) -> None:
    given = {
        "evaluations": evaluations,
        "target": target,
        "stagnation": stagnation,
        "wall_time_s": wall_time,
        "workers": workers,
    }
    raise typer.Exit(work.run.resume_study(store, given, not no_prefetch, quiet, not no_errors))
