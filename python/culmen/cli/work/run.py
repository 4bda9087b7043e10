"""``culmen run`` and ``culmen resume``: from the study and what its store holds to the run, its result and the end."""

import contextlib
import os
import sys
from pathlib import Path
from typing import Any

from ... import _core
from ...base.signals import STOP_SIGNALS, stopping_on
from ...launch.ranks import commanding_ranks
from ...problem.options import mode_of
from ...run.master import make_run, wait
from ...run.progress.monitor import best_of, make_monitor
from ...run.result import Result
from ...run.study import Study
from ...store.opening import Opened, open_store
from .begun import has_ended, make_room
from .codes import FINISHED, RESUMABLE
from .ending import show_end
from .errors import errors_at_end

Given = dict[str, Any]  # evaluations, target, stagnation, wall_time_s, workers; None: not given


def run_study(
    path: Path,
    given: Given,
    place: str,
    prefetch: bool,
    store: Path | None,
    seed: int | None,
    overwrite: bool,
    quiet: bool,
    errors: bool,
) -> int:
    with commanding_ranks() as served:
        if served:
            return FINISHED
        study = Study.from_file(path, store=store, seed=seed, **given)
        study.options.place = place
        study.options.prefetch = study.options.prefetch and prefetch
        _note_idle_option(given)
        if not quiet:
            note_file_left_behind(study)
        ended = make_room(study, overwrite)
        return ended.show(quiet) if ended else _execute(study, quiet, errors)


def resume_study(path: Path, given: Given, prefetch: bool, quiet: bool, errors: bool) -> int:
    with commanding_ranks() as served:
        if served:
            return FINISHED
        opened = open_store(path)
        study = Study.of_store(opened, **given)
        study.options.prefetch = study.options.prefetch and prefetch
        _note_idle_option(given)
        ended = has_ended(opened, study)
        return ended.show(quiet) if ended else _execute(study, quiet, errors)


def _note_idle_option(given: Given) -> None:
    if given["workers"] and _core.detect_launch().is_rank:
        print("culmen: note: --workers is for local workers; under MPI the ranks but the first work", file=sys.stderr)


def note_file_left_behind(study: Study) -> None:
    """Of what a command is likely to miss, before it does."""
    if hint := _core.file_left_behind(study.config.evaluator):
        print(f"culmen: note: {study.source}: [evaluator] command: {hint}", file=sys.stderr)


def _execute(study: Study, quiet: bool, errors: bool) -> int:
    study.settle()
    errors = errors and study.config.evaluator.result == "residuals"
    if not errors:
        _core.dismiss_with_result()
    run = make_run(study.config, study.options)
    with stopping_on(STOP_SIGNALS, run.stop, lambda _number: os._exit(RESUMABLE)):
        run.start()
        if not quiet:
            with contextlib.suppress(OSError):
                _say_what_searches(study.config)
        result = Result.of(wait(run, make_monitor(not quiet, best_of(study.config.objectives))), study.config.space)
        here = run.progress().evaluations_here
    ended = Opened(study.options.store, "errors")
    fit = errors_at_end(study, result, ended) if errors else None
    return show_end(result, here, fit, ended, study.source, quiet)


def _say_what_searches(config: _core.StudyConfig) -> None:
    chosen = f" (chosen: {config.optimizer_why})" if config.optimizer_why else ""
    print(f"Optimizer: {config.optimizer}{chosen}, {mode_of(config.generational)}", flush=True)
