"""``culmen errors``, and the errors at the end of a run."""

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from ... import _core
from ..._core import CulmenError, InputError
from ...base.errors import sentence
from ...base.exit_codes import FINISHED, RESUMABLE
from ...base.signals import STOP_SIGNALS, stopping_on
from ...base.terminal import on_terminal
from ...fit.errors import Best, Errors, NotFiniteError, NothingFreeError
from ...fit.text import show
from ...launch.ranks import commanding_ranks
from ...problem.space import values_of_texts
from ...run.errors import Started, find, find_refitted, look_up_or_compute, wanted_errors, why_not
from ...run.errors_of_store import kept_of_program, study_of
from ...run.evaluations import CandidateEvaluator, with_workers
from ...run.joining import Door
from ...run.refit import refit_of
from ...run.result import NO_END, Result
from ...run.study import Study
from ...store.opening import Opened, open_store
from .notes import ACCEPT, note
from .summary import console


def show_errors(
    path: Path,
    workers: int | None,
    profile: bool,
    confidence: float | None,
    up: float,
    again: bool,
    as_json: bool,
    accept_changes: bool = False,
    fix: dict[str, str] | None = None,
    digits: int | None = None,
    door: Door | None = None,
) -> int:
    if door and fix:
        raise InputError("--fix and --listen are given; give only one of them")
    with commanding_ranks() as serving:
        if serving:
            return FINISHED
        opened = open_store(path, "errors")
        note(opened.without_log)
        if not (again or fix or door) and (stored := kept_of_program(opened, profile, confidence, up)):
            _print(stored, as_json, digits)
            return FINISHED
        study = study_of(opened)
        if door:
            door.open(study)

        def invite(evaluate: CandidateEvaluator) -> None:
            if door:
                command = door.how_to_join(evaluate.address, evaluate.fingerprint, study)
                print(f"Workers join with: {command}", file=sys.stderr, flush=True)

        wanted = wanted_errors(profile, confidence, up, study.config.returns_residuals)

        def compute(best: Best) -> Errors | None:
            note(study.admit_change(accept_changes, ACCEPT))
            options = with_workers(study.options, workers)
            if not fix:
                return _stoppable(lambda started: find(study.config, options, best, wanted, started), invite)
            try:
                refit = refit_of(study.config, best, values_of_texts(study.config.space, fix))
            except InputError as e:
                raise InputError(f"--fix: {e}") from None
            return _stoppable(lambda started: find_refitted(refit, options, wanted, started))

        found, failure = look_up_or_compute(opened, study.config, wanted, compute, again, keeps=not fix)
        if found is None:
            print("culmen: stopped before the errors were known; nothing was stored", file=sys.stderr)
            return RESUMABLE
        note(failure)
    _print(found, as_json, digits)
    return FINISHED


def errors_at_end(study: Study, result: Result, ended: Opened, door: Door | None = None) -> Errors | str | None:
    """The errors for the last lines of a least-squares run, or why there are none. ``ended``: its store.

    ``door``: where workers of other machines had joined. They evaluate, if they have stayed."""
    if not result.residuals or result.reason in NO_END:
        return None
    config = study.config
    command = ["culmen", "errors", str(ended.path), *(door.words if door else [])]
    again = f"compute them with `{shlex.join(command)}`"
    if reason := why_not(result, config.space, again):
        return reason

    def compute(best: Best) -> Errors | None:
        return _stoppable(lambda started: find(config, options, best, wanted, started))

    try:
        options = _core.remaining_workers(study.options)
        wanted = wanted_errors(False, None, 1.0, config.returns_residuals)
        found, failure = look_up_or_compute(ended, config, wanted, compute)
    except (NothingFreeError, NotFiniteError) as e:
        return sentence(e)
    except CulmenError as e:
        return f"{sentence(e)}; {again}"
    note(failure)
    return found or f"stopped; {again}"


def _stoppable(compute: Callable[[Started], Errors], begin: Started | None = None) -> Errors | None:
    """None if a signal ended it. ``begin`` is called when the evaluations have started."""
    running: list[CandidateEvaluator] = []

    def stop() -> None:
        for evaluations in running:
            evaluations.stop()

    def started(evaluations: CandidateEvaluator) -> None:
        running.append(evaluations)
        if begin:
            begin(evaluations)
        if on_terminal():
            evaluations.watch = _draw
        if seen:
            stop()

    _core.dismiss_with_result()
    with stopping_on(STOP_SIGNALS, stop, lambda _number: os._exit(RESUMABLE)) as seen:
        try:
            return compute(started)
        except KeyboardInterrupt:
            return None
        finally:
            if on_terminal():
                print("\r\033[K", end="", flush=True)


def _draw(done: int, asked: int) -> None:
    print(f"\rerrors: {done}/{asked} evaluations\033[K", end="", flush=True)


def _print(found: Errors, as_json: bool, digits: int | None) -> None:
    if as_json:
        print(found.to_json())
    else:
        show(found, console(), digits)
