"""The message and the exit code of a command that failed."""

import contextlib
import sys
import traceback
from typing import Any

from .. import _core
from ..base.errors import debugging, sentence
from ..base.exit_codes import BAD_INPUT, FAILED


def report(error: BaseException) -> int:
    """Prints the message on standard error and returns the exit code."""
    if hasattr(error, "format_message"):
        return _report_usage(error)
    if debugging():
        traceback.print_exception(error)
    for line in sentence(error).splitlines():
        print(f"culmen: {line}", file=sys.stderr)
    return BAD_INPUT if isinstance(error, (_core.InputError, _core.TransportError)) else FAILED


def _report_usage(error: Any) -> int:
    """For errors of typer, whose own messages take five lines. If nothing was typed, prints the help."""
    if len(sys.argv) > 1:
        from . import usage  # loads the keys of study files, which few mistakes need

        print(usage.sentence(error), file=sys.stderr)
    else:
        with contextlib.suppress(OSError):  # `culmen | true`
            print(error.format_message(), flush=True)  # on standard output, so that `culmen | less` shows it
    return BAD_INPUT
