"""``culmen run`` and ``culmen resume``."""

import contextlib
import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

from ... import _core
from ..._core import InputError, StoreError
from ...base.signals import STOP_SIGNALS, stopping_on
from ...launch.ranks import commanding_ranks
from ...problem.options import mode_of
from ...run.master import make_run, wait
from ...run.progress.monitor import best_of, make_monitor
from ...run.result import Result
from ...run.study import Study
from ...store.differences import another_study
from ...store.opening import open_store
from .codes import BAD_INPUT, FAILED, FINISHED, RESUMABLE
from .errors import errors_at_end
from .summary import ERRORS, failures_of, from_here, print_result, print_state

_OPTIONS = {
    "evaluations": "--evaluations",
    "target": "--target",
    "stagnation": "--stagnation",
    "wall_time_s": "--wall-time",
}
_OTHER_STORE = "--store PATH gives this study a store of its own"
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
        _note_idle_option(given)
        if not quiet:
            note_file_left_behind(study)
        code = _existing(study, overwrite, quiet)
        return _execute(study, prefetch, quiet, errors) if code is None else code


def resume_study(path: Path, given: Given, prefetch: bool, quiet: bool, errors: bool) -> int:
    with commanding_ranks() as served:
        if served:
            return FINISHED
        study = Study.from_store(path, **given)
        found = open_store(path)
        summary: dict[str, Any] = found.summary()
        _note_idle_option(given)
        _note_change(study)
        if _is_over(summary, study.config, found.configuration):
            if not quiet:
                _show_finished(path, summary, f"{_goes_on_with(path, summary['finished'])}")
            return _code_of(summary)
        return _execute(study, prefetch, quiet, errors)


def _is_over(summary: dict[str, Any], config: _core.StudyConfig, stored: str) -> bool:
    """Whether it has ended, and by limits that still hold. ``stored``: the configuration that it ended with."""
    if summary["finished"] == "evaluations":
        return 0 < config.evaluations <= summary["told"]
    if summary["finished"] == "target":
        return bool(summary["best_value"] <= config.target)
    if summary["finished"] == "stagnation":
        return 0 < config.stagnation <= (_stop_table(stored).get("stagnation") or 0)
    return bool(summary["finished"])


def _stop_table(configuration: str) -> dict[str, Any]:
    return json.loads(configuration or "{}").get("stop") or {}


def _goes_on_with(path: Path | str, finished: str) -> str:
    """What lets a finished study go on: the sentence's end; what has nothing more to propose has none."""
    more = {"evaluations": "a larger", "stagnation": "a larger", "target": "a lower"}.get(finished)
    if more is None:
        return "there is nothing to go on with"
    return f"`culmen resume {shlex.quote(str(path))} {_OPTIONS[finished]} N` with {more} N goes on"


def _note_idle_option(given: Given) -> None:
    if given["workers"] and _core.detect_launch().is_rank:
        print("culmen: note: --workers is for local workers; under MPI the ranks but the first work", file=sys.stderr)


def note_file_left_behind(study: Study) -> None:
    """Of what a command is likely to miss, before it does."""
    if hint := _core.file_left_behind(study.config.evaluator):
        print(f"culmen: note: {study.source}: [evaluator] command: {hint}", file=sys.stderr)


def _existing(study: Study, overwrite: bool, quiet: bool) -> int | None:
    """None where the store can be made; else says what is there."""
    path = study.options.store
    if not Path(path).exists():
        return None
    try:
        found = open_store(path)
        summary: dict[str, Any] = found.summary()
    except (InputError, StoreError) as e:
        raise type(e)(f"{e}; {_OTHER_STORE}") from None
    if summary["owned"]:
        advice = f"`culmen status {shlex.quote(path)}` shows how far it is"
        raise InputError(f"{path} is in use: {summary['owner']} runs this study; {advice}")
    if overwrite or not summary["outcomes"]:
        _remove(study)  # where there is nothing in it, its start could not even begin
        return None
    study.settle(found.fingerprint)
    if found.fingerprint != study.config.fingerprint:
        raise InputError(f"{another_study(path, found, study.config)}; {_OTHER_STORE}")
    resume = f"`culmen resume {shlex.quote(path)}{_new_limits(study, found.configuration, summary['finished'])}`"
    if not _is_over(summary, study.config, found.configuration):
        how = "finished" if summary["finished"] else "stopped"
        failed = ", which all failed" if summary["failed"] == summary["told"] > 0 else ""
        advice = f"{resume} goes on, --overwrite begins anew"
        raise InputError(f"{path} holds this study, {how} after {summary['told']} evaluations{failed}; {advice}")
    _note_change(study)
    if quiet:
        return _code_of(summary)
    again = "`culmen run` with --overwrite, or --store PATH, runs it anew"
    _show_finished(Path(path), summary, f"{_goes_on_with(path, summary['finished'])}; {again}")
    return _code_of(summary)


def _new_limits(study: Study, stored: str, finished: str) -> str:
    """What the study now says otherwise than its store, as options of resume; N for the rule that ended it where the
    study has it no longer."""
    before, now = _stop_table(stored), _stop_table(study.config.configuration)
    if finished in _OPTIONS and finished not in now:
        now[finished] = "N"
    changed = [key for key in _OPTIONS if key in now and now[key] != before.get(key)]
    return "".join(f" {_OPTIONS[key]} {now[key]}" for key in changed)


def _note_change(study: Study) -> None:
    if note := study.change():
        print(f"culmen: note: {note}; `culmen run --overwrite` begins anew", file=sys.stderr)


def _code_of(summary: dict[str, Any]) -> int:
    """A finished study's: that nothing but failures came of it does not become success by asking again."""
    return FAILED if summary["best_value"] is None and summary["failed"] else FINISHED


def _remove(study: Study) -> None:
    for ending in ("", "-wal", "-shm"):
        Path(study.options.store + ending).unlink(missing_ok=True)
    shutil.rmtree(study.config.evaluator.working_folder, ignore_errors=True)


def _show_finished(path: Path, summary: dict[str, Any], advice: str) -> None:
    print(f"The study in {path} has finished ({_core.describe_reason(summary['finished'])}); {advice}.")
    print_state(path)


def _execute(study: Study, prefetch: bool, quiet: bool, errors: bool) -> int:
    study.options.prefetch = study.options.prefetch and prefetch
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
    fit = errors_at_end(study, result) if errors else None
    if not quiet and (here or result.reason not in ERRORS):
        with contextlib.suppress(OSError, SystemExit):
            print_result(result, here, fit)
    return _code(result, study.source)


def _say_what_searches(config: _core.StudyConfig) -> None:
    chosen = f" (chosen: {config.optimizer_why})" if config.optimizer_why else ""
    print(f"Optimizer: {config.optimizer}{chosen}, {mode_of(config.generational)}", flush=True)


def _code(result: Result, source: str) -> int:
    """Says on standard error why it is not a success."""
    if result.reason in ERRORS:
        place = f"{source}: [evaluator] " if result.reason == "set_up" else ""
        print(f"culmen: {place}{result.message}", file=sys.stderr)
    elif result.all_failed:
        print(f"culmen: all evaluations failed; the first: {result.first_failure}", file=sys.stderr)
    if result.all_failed:
        print(f"culmen: {_after_failures(result.store)}", file=sys.stderr)
    if result.reason == "set_up":
        return BAD_INPUT
    if result.reason in ERRORS or result.all_failed:
        return FAILED
    return RESUMABLE if result.reason == "interrupted" else FINISHED


def _after_failures(store: str) -> str:
    """What to look at, and what to type when it is mended."""
    entries = failures_of(Path(store), _core.Store.read(store).summary())
    folder = next((entry["folder"] for entry in entries if "folder" in entry), "")
    look = f"what it printed is in {from_here(folder)}; " if folder else ""
    return (
        f"{look}`culmen check` tries a few; when that is mended, `culmen run --overwrite` begins anew, and "
        f"`culmen resume {shlex.quote(store)}` goes on after the failures"
    )
