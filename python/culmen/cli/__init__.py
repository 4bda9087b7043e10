"""The command line. Commands import what they need when they run, so that ``--help`` is quick."""

import contextlib
import os
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

FINISHED, FAILED, BAD_INPUT, RESUMABLE = 0, 1, 2, 75


def main() -> NoReturn:
    """Runs the command of sys.argv; every error is one sentence on standard error and an exit code."""
    from .app import app
    from .completion import words_of_bash

    bash_asks = os.environ.get("_CULMEN_COMPLETE") == "complete_bash"
    try:
        with words_of_bash() if bash_asks else contextlib.nullcontext():
            code = app(prog_name="culmen", standalone_mode=False)
    except SystemExit as e:
        code = e.code
    except BaseException as e:
        code = _report(e)
    if isinstance(code, str):
        print(code, file=sys.stderr)
        code = FAILED
    _flush()
    _tell_launch(code or 0)
    _end_mpi(code or 0)
    os._exit(code or 0)  # taking the interpreter down in order costs more than the rest of a clean end


def _flush() -> None:
    """Whether anybody reads it decides nothing."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()


def _tell_launch(code: int) -> None:
    """`culmen launch` waits for a launcher that may mix this code with those of ranks that it had to kill."""
    place = os.environ.get("CULMEN_LAUNCH_CODE")
    if place and "culmen._core" in sys.modules:
        from ..launch.ranks import is_master

        if is_master():
            with contextlib.suppress(OSError):
                Path(place).write_text(str(code))


def _end_mpi(code: int) -> None:
    """Collective, so last; where a rank did not leave its evaluation the process ends here."""
    if "culmen._core" in sys.modules:
        from .. import _core

        _core.finalize_mpi(code)


def _report(error: BaseException) -> int:
    if hasattr(error, "format_message"):
        return _report_usage(error)
    from .. import _core
    from ..base.errors import debugging, sentence

    if debugging():
        traceback.print_exception(error)
    for line in sentence(error).splitlines():
        print(f"culmen: {line}", file=sys.stderr)
    return BAD_INPUT if isinstance(error, (_core.InputError, _core.TransportError)) else FAILED


def _report_usage(error: Any) -> int:
    """Of typer, whose own messages take five lines. Where nothing was typed it has shown the help."""
    if len(sys.argv) > 1:
        from .usage import sentence

        print(sentence(error), file=sys.stderr)
    return BAD_INPUT
