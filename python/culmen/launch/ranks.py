"""Which of an MPI launch's processes this is, and what its end means for the others."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from .. import _core
from ..base.errors import sentence


def is_master() -> bool:
    """False in the ranks other than 0 of an MPI launch, else True.

    Under mpiexec every rank runs the whole script, so that what stands outside ``minimize`` happens in each of them;
    ``if culmen.is_master():`` before printing or saving keeps it to one. ``minimize`` itself is for all of them: in one
    rank alone it waits for the others.
    """
    launch = _core.detect_launch()
    return not (launch.is_rank and launch.rank)


def end_launch_with_rank() -> None:
    """From now on an exception that nobody catches in this rank ends the launch, where else the other ranks would wait
    for this one for ever. Errors of culmen itself are raised in every rank, so each ends in order."""
    if _core.detect_launch().is_rank and sys.excepthook is sys.__excepthook__:
        sys.excepthook = _leave


def serve_until_dismissed() -> NoReturn:
    """In a rank other than 0: works for whatever rank 0 starts, and leaves the program when rank 0 ends."""
    _core.serve_until_dismissed()
    raise SystemExit(0)


@contextmanager
def commanding_ranks() -> Iterator[bool]:
    """Around a command of whose launch the other ranks serve until rank 0 has done all: True in a rank that has served;
    rank 0 dismisses them at the end, whatever happens inside."""
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
    """For rank 0, up to ``start``: whatever goes wrong inside, the other ranks are told and do not wait for ever."""
    is_rank = _core.detect_launch().is_rank
    if is_rank:
        _core.expect_ranks()
    try:
        yield
    except BaseException as e:
        if is_rank:
            _core.abandon_ranks(sentence(e))
        raise


def leave_launch(code: int) -> None:
    """The last step of a command, in every rank.

    It tells `culmen launch` the code, because a launcher may mix it with those of ranks that it had to kill. The end of
    MPI is collective; a rank that is still in its evaluation ends the process here.
    """
    place = os.environ.get("CULMEN_LAUNCH_CODE")
    if place and is_master():
        with suppress(OSError):
            Path(place).write_text(str(code))
    _core.finalize_mpi(code)
