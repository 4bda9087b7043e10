"""``culmen run`` and ``culmen resume``."""

import contextlib
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from .. import _core
from .._core import InputError
from ..master import STOP_SIGNALS, letting_ranks_go, make_run, stopping_on, wait
from ..progress import make_monitor
from ..ranks import is_master
from ..result import Result
from ..stores import open_store
from ..study import Study
from . import BAD_INPUT, FAILED, FINISHED, RESUMABLE
from .summary import ERRORS, print_result, print_state

_USED_UP = "evaluations"


def run_study(
    path: Path,
    workers: int | None,
    place: str,
    prefetch: bool,
    store: Path | None,
    seed: int | None,
    evaluations: int | None,
    quiet: bool,
) -> int:
    if _served():
        return FINISHED
    with letting_ranks_go():
        study = Study.from_file(path, store=store, seed=seed, evaluations=evaluations, workers=workers)
        study.options.place = place
        code = _existing(study, evaluations or 0)
    return _execute(study, prefetch, quiet) if code is None else _without_ranks(code)


def resume_study(path: Path, workers: int | None, prefetch: bool, evaluations: int | None, quiet: bool) -> int:
    if _served():
        return FINISHED
    with letting_ranks_go():
        study = Study.from_store(path, evaluations=evaluations, workers=workers)
        summary = open_store(path).summary()
        _note_change(study)
    wanted = evaluations or (study.config.evaluations if summary["finished"] == _USED_UP else 0)
    if summary["finished"] and wanted <= summary["told"]:
        _show_finished(path, summary, "`culmen resume` with --evaluations N and a larger N goes on")
        return _without_ranks(_code_of(summary))
    return _execute(study, prefetch, quiet)


def _served() -> bool:
    """True in a rank that has worked for rank 0 until its end."""
    if is_master():
        return False
    _core.serve_rank()
    return True


def _without_ranks(code: int) -> int:
    """There is nothing to run: the other ranks of a launch need not wait."""
    if _core.detect_launch().is_rank:
        _core.abandon_ranks("there is nothing to run")
    return code


def _existing(study: Study, evaluations: int) -> int | None:
    """None where the store can be made; else says what is there. ``evaluations``: asked for by the user; 0: not."""
    path = study.options.store
    if not Path(path).exists():
        return None
    found = open_store(path)
    summary: dict[str, Any] = found.summary()
    if not summary["outcomes"] and not summary["owned"]:
        return _remove(path)  # that start could not even begin: there is nothing in it to lose
    if found.fingerprint != study.config.fingerprint:
        raise InputError(f"{path} holds another study ('{found.name}'); --store PATH gives this one a store of its own")
    if summary["owned"]:
        advice = f"`culmen status {shlex.quote(path)}` shows how far it is"
        raise InputError(f"{path} is in use: {summary['owner']} runs this study; {advice}")
    if not summary["finished"]:
        advice = f"`culmen resume {shlex.quote(path)}` goes on, --store PATH runs it anew"
        raise InputError(f"{path} holds this study, stopped after {summary['told']} evaluations; {advice}")
    if summary["finished"] == _USED_UP and evaluations > summary["told"]:
        advice = f"`culmen resume {shlex.quote(path)} --evaluations {evaluations}` goes on, --store PATH runs it anew"
        raise InputError(f"{path} holds this study, finished after {summary['told']} evaluations; {advice}")
    _note_change(study)
    _show_finished(Path(path), summary, "--store PATH runs it anew")
    return _code_of(summary)


def _note_change(study: Study) -> None:
    if note := study.change():
        print(f"culmen: note: {note}; `culmen run` with --store PATH begins anew", file=sys.stderr)


def _code_of(summary: dict[str, Any]) -> int:
    """A finished study's: that nothing but failures came of it does not become success by asking again."""
    return FAILED if summary["best_value"] is None and summary["failed"] else FINISHED


def _remove(path: str) -> None:
    for ending in ("", "-wal", "-shm"):
        Path(path + ending).unlink(missing_ok=True)


def _show_finished(path: Path, summary: dict[str, Any], advice: str) -> None:
    print(f"The study in {path} has finished ({_core.describe_reason(summary['finished'])}); {advice}.")
    print_state(path)


def _execute(study: Study, prefetch: bool, quiet: bool) -> int:
    study.options.prefetch = study.options.prefetch and prefetch
    run = make_run(study.config, study.options)
    with stopping_on(STOP_SIGNALS, run.stop, lambda _number: os._exit(RESUMABLE)):
        run.start()
        result = Result.of(wait(run, make_monitor(not quiet)), study.config.space)
        here = run.progress().evaluations_here
        if not quiet and (here or result.reason not in ERRORS):
            with contextlib.suppress(OSError, SystemExit):
                print_result(result, here)
        return _code(result)


def _code(result: Result) -> int:
    """Says on standard error why it is not a success."""
    if result.reason in ERRORS:
        print(f"culmen: {result.message}", file=sys.stderr)
        return BAD_INPUT if result.reason == "set_up" else FAILED
    if result.all_failed:
        print(f"culmen: all evaluations failed; the first: {result.first_failure}", file=sys.stderr)
        return FAILED
    return RESUMABLE if result.reason == "interrupted" else FINISHED
