"""The command line of this process, from its words to its exit code."""

import contextlib
import io
import os
import sys
from typing import NoReturn

from ..base.exit_codes import FAILED
from .app import app
from .characters import register
from .completion import words_of_bash


def main() -> NoReturn:
    """Runs the command in sys.argv; every error is one sentence on standard error and an exit code."""
    _open_standard_streams()
    similar = register()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=similar)  # a terminal without χ shows chi instead of an exception
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
    _leave_launch(code or 0)
    os._exit(code or 0)  # a normal exit of the interpreter would take longer than the rest of a clean end


def _open_standard_streams() -> None:
    """A program may be started without them. Otherwise the next file, perhaps the store, would take their numbers, and
    printed text would go into it."""
    while (null := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(null, True)
    os.close(null)
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115 - open to the end


def _report(error: BaseException) -> int:
    from .failure import report  # loads the engine, which a command without an error may not need

    return report(error)


def _flush() -> None:
    """A closed output changes nothing."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()


def _leave_launch(code: int) -> None:
    if "culmen._core" in sys.modules:
        from ..launch.ranks import leave_launch  # without the engine there is no launch to leave

        leave_launch(code)
