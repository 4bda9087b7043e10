"""The end of a run: tables on standard output, the reason of a failure on standard error, and the exit code."""

import contextlib
import sys

from ...fit.errors import Errors
from ...run.result import Result
from ...store.opening import Opened, resume_command
from .codes import BAD_INPUT, FAILED, FINISHED, RESUMABLE
from .summary import ERRORS, from_here, print_result


def show_end(
    result: Result,
    here: int,
    fit: Errors | str | None,
    ended: Opened,
    source: str,
    quiet: bool,
    digits: int | None = None,
    open_to_others: bool = False,
) -> int:
    """``here``: evaluations of this start; ``fit``: the errors of the parameters, or why there are none; ``ended``: the
    store after the run; ``source``: the study's file; ``digits``,
    ``open_to_others``: see print_result. Returns the exit code."""
    if not quiet and (here or result.reason not in ERRORS):
        with contextlib.suppress(OSError, SystemExit):
            print_result(result, here, fit, ended, digits, open_to_others)
    _say_why(result, source, ended)
    return _code_of(result)


def _say_why(result: Result, source: str, ended: Opened) -> None:
    if result.reason in ERRORS:
        place = f"{source}: [evaluator] " if result.reason == "set_up" else ""
        print(f"culmen: {place}{result.message}{_after_hanging_teams(result, ended)}", file=sys.stderr)
    elif result.all_failed:
        print(f"culmen: all evaluations failed; the first: {result.first_failure}", file=sys.stderr)
    if result.all_failed:
        print(f"culmen: {_after_failures(ended)}", file=sys.stderr)


def _after_hanging_teams(result: Result, ended: Opened) -> str:
    if result.reason != "error" or not (result.team_size and result.store and ended.path.exists()):
        return ""
    return f"; to resume: {resume_command(ended.path, ended.begun.configuration)}"


def _code_of(result: Result) -> int:
    if result.reason == "set_up":
        return BAD_INPUT
    if result.reason in ERRORS or result.all_failed:
        return FAILED
    return RESUMABLE if result.reason == "interrupted" else FINISHED


def _after_failures(ended: Opened) -> str:
    """Where to look for the mistake, and the commands for the time after."""
    folder = next((entry["folder"] for entry in ended.failures if "folder" in entry), "")
    look = f"its output is in {from_here(folder)}; " if folder else ""
    return (
        f"{look}find the mistake with `culmen check`, then restart with `culmen run --overwrite`, or resume after the "
        f"failures with `{resume_command(ended.path, ended.begun.configuration)}`"
    )
