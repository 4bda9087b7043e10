"""``culmen run`` and ``culmen resume``."""

import contextlib
import os
import shlex
import signal
import sys
from pathlib import Path

from .. import _core
from .._core import InputError
from ..master import letting_ranks_go, make_run, stopping_on, wait
from ..progress import make_monitor
from ..result import Result
from ..study import Study
from . import FAILED, FINISHED, RESUMABLE
from .summary import print_result, print_state

_ERRORS = ("failure", "error")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)


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
        code = _existing(study.options.store, study.config.fingerprint)
    return _execute(study, prefetch, quiet) if code is None else _without_ranks(code)


def resume_study(path: Path, workers: int | None, prefetch: bool, evaluations: int | None, quiet: bool) -> int:
    if _served():
        return FINISHED
    with letting_ranks_go():
        study = Study.from_store(path)
        summary = _core.Store.read(str(path)).summary()
    if summary["finished"] and not (evaluations and evaluations > int(summary["told"])):
        _show_finished(path, summary, "`culmen resume` with --evaluations N and a larger N goes on")
        return _without_ranks(_code_of(summary))
    study.options.workers = workers or study.options.workers
    study.config.evaluations = evaluations or study.config.evaluations
    return _execute(study, prefetch, quiet)


def _served() -> bool:
    """True in a rank that has worked for rank 0 until its end."""
    launch = _core.detect_launch()
    if not (launch.is_rank and launch.rank):
        return False
    _core.serve_rank()
    return True


def _without_ranks(code: int) -> int:
    """There is nothing to run: the other ranks of a launch need not wait."""
    if _core.detect_launch().is_rank:
        _core.abandon_ranks("there is nothing to run")
    return code


def _existing(path: str, fingerprint: str) -> int | None:
    """None where the store can be made; else says what is there."""
    if not Path(path).exists():
        return None
    found = _core.Store.read(path)
    summary = found.summary()
    if not summary["outcomes"] and not summary["owned"]:
        return _remove(path)  # that start could not even begin: there is nothing in it to lose
    if found.fingerprint != fingerprint:
        raise InputError(f"{path} holds another study ('{found.name}'); --store PATH gives this one a store of its own")
    if summary["owned"]:
        advice = f"`culmen status {shlex.quote(path)}` shows how far it is"
        raise InputError(f"{path} is in use: {summary['owner']} runs this study; {advice}")
    if not summary["finished"]:
        advice = f"`culmen resume {shlex.quote(path)}` goes on, --store PATH runs it anew"
        raise InputError(f"{path} holds this study, stopped after {summary['told']} evaluations; {advice}")
    advice = "--store PATH runs it anew (as it has to be where the function has changed: culmen does not look into it)"
    _show_finished(Path(path), summary, advice)
    return _code_of(summary)


def _code_of(summary: dict[str, object]) -> int:
    """A finished study's: that nothing but failures came of it does not become success by asking again."""
    return FAILED if summary["best_value"] is None and summary["failed"] else FINISHED


def _remove(path: str) -> None:
    for ending in ("", "-wal", "-shm"):
        Path(path + ending).unlink(missing_ok=True)


def _show_finished(path: Path, summary: dict[str, object], advice: str) -> None:
    print(f"The study in {path} has finished ({summary['finished']}); {advice}.")
    print_state(path)


def _execute(study: Study, prefetch: bool, quiet: bool) -> int:
    study.options.prefetch = study.options.prefetch and prefetch
    run = make_run(study.config, study.options)
    with stopping_on(_SIGNALS, run.stop, lambda _number: os._exit(RESUMABLE)):
        run.start()
        core = wait(run, make_monitor(not quiet))
    result = Result.of(core, study.config.space)
    here = run.progress().evaluations_here
    if not quiet and (here or result.reason not in _ERRORS):
        with contextlib.suppress(BrokenPipeError, SystemExit):
            print_result(result, here)
    problem = _problem(result)
    if problem:
        print(f"culmen: {problem}", file=sys.stderr)
        return FAILED
    return RESUMABLE if result.reason == "interrupted" else FINISHED


def _problem(result: Result) -> str | None:
    if result.reason in _ERRORS:
        return result.message
    if result.best is None and result.failed:
        first = _core.Store.read(result.store).outcomes(0, 1)[0]
        what = f"(evaluation {first['evaluation']}) {first['status']}: {first['message']}"
        return f"all evaluations failed; the first {what}"
    return None
