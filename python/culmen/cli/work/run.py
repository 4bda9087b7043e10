"""``culmen run`` and ``culmen resume``: from the study and its store to the run, its result and the end."""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ... import _core
from ...base.exit_codes import FINISHED, RESUMABLE
from ...base.signals import STOP_SIGNALS
from ...launch.ranks import commanding_ranks
from ...problem.options import choice_and_mode
from ...run.joining import Door
from ...run.master import conduct
from ...run.progress.monitor import Monitor, make_monitor, words_of
from ...run.result import Result
from ...run.study import Study
from ...store.opening import Opened, open_store
from .agreement import ends_without_limits
from .begun import check_room, has_ended, refuse_in_use, without_former_store
from .ending import show_end
from .errors import errors_at_end
from .notes import ACCEPT, RESTART, note, note_file_left_behind, note_idle_options, restart_of
from .summary import teams_or_workers

Given = dict[str, Any]  # evaluations, target, stagnation, wall_time_s, workers, agreement; None: not given


def place_of(threads: bool, processes: bool) -> str:
    """The place of local workers that the options of ``culmen run`` ask for."""
    if threads and processes:
        raise _core.InputError("--threads and --worker-processes are given; give only one of them")
    return "threads" if threads else "processes" if processes else "auto"


def door_of(listening: Mapping[str, Any]) -> Door | None:
    """The address at which workers of other machines can join, from the options of a command."""
    return Door.of(listening)


def run_study(
    path: Path,
    given: Given,
    *,
    place: str,
    prefetch: bool,
    store: Path | None,
    seed: int | None,
    overwrite: bool,
    quiet: bool,
    errors: bool,
    fix: dict[str, str] | None = None,
    digits: int | None = None,
    door: Door | None = None,
) -> int:
    with commanding_ranks() as served:
        if served:
            return FINISHED
        study = Study.from_file(path, store=store, seed=seed, fix=fix, **given)
        _choose_workers(study, given, place, prefetch)
        if not quiet:
            note_file_left_behind(study)
        restart = restart_of(path, fix, store, seed)
        if ended := check_room(study, overwrite, restart):
            return ended.show(quiet)
        with without_former_store(study):
            return _execute(study, quiet, errors, digits, door, restart)


def resume_study(
    path: Path,
    given: Given,
    *,
    prefetch: bool,
    quiet: bool,
    errors: bool,
    accept_changes: bool = False,
    digits: int | None = None,
    door: Door | None = None,
) -> int:
    with commanding_ranks() as served:
        if served:
            return FINISHED
        opened = open_store(path)
        refuse_in_use(opened)
        study = Study.of_store(opened, **given)
        _choose_workers(study, given, "auto", prefetch)
        if ended := has_ended(opened, study):
            return ended.show(quiet)
        note(opened.without_log if opened.summary["asked"] else "")  # otherwise it is an error below
        note(study.take_up(accept_changes, f"{ACCEPT}; to restart, write `{RESTART}`"))
        return _execute(study, quiet, errors, digits, door)


def _choose_workers(study: Study, given: Given, place: str, prefetch: bool) -> None:
    """Sets the workers of the study. In a launch, ranks are the workers, and options for local workers have no
    effect."""
    study.options.prefetch = study.options.prefetch and prefetch
    if _core.uses_ranks(study.options):
        note_idle_options(given, place)
    else:
        study.options.place = place


def _execute(
    study: Study, quiet: bool, errors: bool, digits: int | None, door: Door | None, restart: str = RESTART
) -> int:
    """Runs the study, and shows its result and its end."""
    if door:
        door.open(study)
    study.settle()
    config = study.config
    errors = errors and config.returns_residuals
    if errors:
        _core.keep_visitors(study.options)
    else:
        _core.dismiss_with_result()

    def begin(run: _core.Run) -> Monitor:
        if not quiet:
            with contextlib.suppress(OSError):
                _say_what_searches(config)
                _say_where_workers_are(run, study.options.team_size)
                if door:
                    print(f"Workers join with: {door.how_to_join(run.address, run.fingerprint, study)}", flush=True)
        return make_monitor(not quiet, words_of(config.objectives))

    try:
        ran = conduct(config, study.options, begin, STOP_SIGNALS, lambda _number: os._exit(RESUMABLE))
        result, ended = Result.of(ran.result, config.space), Opened(study.options.store, "errors")
        fit = errors_at_end(study, result, ended, door) if errors else None
    finally:
        _core.dismiss_visitors(study.options)
    elsewhere = door is not None or _core.uses_ranks(study.options)
    return show_end(result, ran.here, fit, ended, study.source, quiet, digits, elsewhere, restart)


def _say_where_workers_are(run: _core.Run, team_size: int) -> None:
    workers = teams_or_workers(run.workers, team_size) if team_size else str(run.workers)
    if run.nodes > 1:
        relays = "a relay" if run.nodes == 2 else f"{run.nodes - 1} relays"
        print(f"Workers: {workers} on {run.nodes} nodes, with {relays} between the nodes", flush=True)
    elif team_size:
        print(f"Workers: {workers}", flush=True)


def _say_what_searches(config: _core.StudyConfig) -> None:
    details = choice_and_mode(config.optimizer_why, config.generational, config.mode_reason)
    print(f"Optimizer: {config.optimizer}{details}", flush=True)
    if ends := ends_without_limits(config):
        print(f"Ends: {ends}", flush=True)
