"""The rank of this process in an MPI launch, and how its end affects the other ranks."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from .. import _core
from ..base.errors import sentence

LEFT_BEHIND = "left a rank behind"
_KINDS = {"input": _core.InputError, "store": _core.StoreError, "transport": _core.TransportError}


def is_master() -> bool:
    """True in rank 0 of an MPI launch, and without MPI. False in all other ranks.

    Under MPI, every rank runs the whole script. Write ``if culmen.is_master():`` before code that prints or saves
    something. Every rank must call ``minimize``. If only one rank calls ``minimize``, this rank waits for the other
    ranks.
    """
    launch = _core.detect_launch()
    return not (launch.is_rank and launch.rank)


def end_launch_with_rank() -> None:
    """From now on, an uncaught exception in this rank ends the launch. Otherwise the other ranks would wait for ever.
    Errors of culmen itself are raised in every rank, so each rank ends normally."""
    if _core.detect_launch().is_rank and sys.excepthook is sys.__excepthook__:
        sys.excepthook = _leave


def serve_until_dismissed() -> NoReturn:
    """In a rank other than 0: serves all runs of rank 0, and exits when rank 0 ends."""
    _core.serve_until_dismissed()
    raise SystemExit(0)


@contextmanager
def commanding_ranks() -> Iterator[bool]:
    """Around a command that rank 0 runs while the other ranks serve it. Yields True in a rank that has served. Rank 0
    dismisses them at the end, also after an exception."""
    if not is_master():
        _core.serve_until_dismissed()
        yield True
        return
    try:
        yield False
    finally:
        if _core.detect_launch().is_rank:
            _core.dismiss_ranks()


def _leave(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    sys.__excepthook__(kind, error, traceback)
    if not issubclass(kind, _core.CulmenError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)


@contextmanager
def letting_ranks_go() -> Iterator[None]:
    """For rank 0, until ``start``: after an exception inside the block, the other ranks get this error and stop
    waiting."""
    is_rank = _core.detect_launch().is_rank
    if is_rank:
        _core.expect_ranks()
    try:
        yield
    except BaseException as e:
        if is_rank:
            _core.abandon_ranks(sentence(e), kind_of(e))
        raise


def kind_of(error: BaseException) -> str:
    """The class of error that the other ranks raise, as a word."""
    return next((word for word, kind in _KINDS.items() if isinstance(error, kind)), "other")


def error_of(kind: str, message: str) -> _core.CulmenError:
    """The error in the other ranks."""
    return _KINDS.get(kind, _core.CulmenError)(message)


def leave_launch(code: int) -> None:
    """The last step of a command, in every rank.

    It tells `culmen launch` the exit code, because a launcher may return that of a rank that it had to kill. It also
    tells whether it leaves such a rank behind. Ending MPI is collective; a rank that is still in its evaluation ends
    its process here. Under MPICH, every rank does.
    """
    place = os.environ.get("CULMEN_LAUNCH_CODE")
    if place and is_master():
        with suppress(OSError):
            Path(place).write_text(f"{code} {LEFT_BEHIND}" if _core.a_rank_hangs() else str(code))
    _core.finalize_mpi(code)
    _core.exit_as_rank(code)
