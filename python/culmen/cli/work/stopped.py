"""The end of a command that a signal stops, and that the same command continues."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from ..._core import StoreError
from ...base.again import same_command
from ...base.exit_codes import RESUMABLE
from ...bench.stopping import StoppedError, stoppable
from ...launch.watched import RunStoppedError
from ...run.master import RESUME

Words = ParamSpec("Words")


def continues(work: Callable[Words, int]) -> Callable[Words, int]:
    """``work``: returns an exit code, and keeps the runs that are done."""

    @wraps(work)
    def until_stopped(*words: Words.args, **options: Words.kwargs) -> int:
        try:
            with stoppable():
                return work(*words, **options)
        except (StoppedError, RunStoppedError):
            say_unfinished()
            return RESUMABLE
        except StoreError as error:  # a user of a tuner knows no study
            raise StoreError(str(error).replace(RESUME, f"type {same_command()} again")) from None

    return until_stopped


def say_unfinished() -> None:
    """Also with --quiet: the exit code alone does not tell a user what to do."""
    said = f"Not all runs are done. The finished runs are kept; {same_command()} continues."
    print(said, file=sys.stderr, flush=True)
