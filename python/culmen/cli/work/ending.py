"""The end of a run: tables on standard output, the reason of a failure on standard error, and the exit code."""

import contextlib
import sys

from ...base.exit_codes import BAD_INPUT, FAILED, FINISHED, RESUMABLE
from ...fit.errors import Errors
from ...run.master import NO_SPACE
from ...run.result import Result
from ...store.opening import Opened, resume_command
from .notes import RESTART
from .summary import ERRORS, from_here, print_result


def show_end(
    result: Result,
    here: int,
    fit: Errors | str | None,
    ended: Opened,
    source: str,
    quiet: bool,
    digits: int | None = None,
    elsewhere: bool = False,
    restart: str = RESTART,
) -> int:
    """Prints the end of a run and returns the exit code. ``here``: evaluations since this start. ``fit``: the errors of
    the parameters, or why there are none. ``ended``: the store after the run. ``source``: the study's file. ``digits``,
    ``elsewhere``: see print_result. ``restart``: the command that restarts the study."""
    if not quiet and (here or result.reason not in ERRORS):
        with contextlib.suppress(OSError, SystemExit):
            print_result(result, here, fit, ended, digits, elsewhere)
    _say_why(result, source, ended, restart)
    return _code_of(result)


def _say_why(result: Result, source: str, ended: Opened, restart: str) -> None:
    if result.reason in ERRORS:
        place = f"{source}: [evaluator] " if result.reason == "set_up" else ""
        print(f"culmen: {place}{result.message}{_how_to_resume(result, ended)}", file=sys.stderr)
    elif result.all_failed:
        print(f"culmen: all evaluations failed; the first: {result.first_failure}", file=sys.stderr)
    if result.all_failed:
        print(f"culmen: {_after_failures(ended, restart)}", file=sys.stderr)


def _how_to_resume(result: Result, ended: Opened) -> str:
    """The advice after teams that hung, and on a full disk."""
    is_full = NO_SPACE in result.message
    if result.reason != "error" or not ((result.team_size or is_full) and result.store and ended.path.exists()):
        return ""
    command = resume_command(ended.path, ended.begun.configuration)
    return f"; free space, then resume with `{command}`" if is_full else f"; to resume: {command}"


def _code_of(result: Result) -> int:
    if result.reason == "set_up":
        return BAD_INPUT
    if result.reason in ERRORS or result.all_failed:
        return FAILED
    return RESUMABLE if result.reason == "interrupted" else FINISHED


def _after_failures(ended: Opened, restart: str) -> str:
    """Where to look for the mistake, and the commands for the time after."""
    folder = next((entry["folder"] for entry in ended.failures if "folder" in entry), "")
    look = f"its output is in {from_here(folder)}; " if folder else ""
    return (
        f"{look}find the mistake with `culmen check`, then restart with `{restart}`, or resume after the "
        f"failures with `{resume_command(ended.path, ended.begun.configuration)}`"
    )
