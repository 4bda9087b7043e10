"""A member of a team: calls the user's function in this process, with the communicator of the team."""

from collections.abc import Callable
from typing import Any

from .. import _core
from ..slot import protocol
from ..slot.failure import sentence
from ..slot.process import Process
from ..slot.single import InTeam, evaluate
from ..slot.target import TargetError, load

_ADVICE = "start with culmen launch, and without MPI4PY_MPIABI in the environment"


class Member:
    """Evaluates for the engine, which calls it in the way in which it calls a slot."""

    def __init__(self, set_up: bytes, communicator: int) -> None:
        """Raises InputError if the function or mpi4py cannot be loaded."""
        self._set_up = protocol.decode_set_up(set_up)
        self._from_handle = _communicators()
        self._process = Process()
        self._from_handle(communicator)
        try:
            self._function = load(self._set_up, in_team=True)
        except TargetError as error:
            raise _core.InputError(str(error)) from None

    def evaluate(self, request: bytes, communicator: int) -> bytes:
        """The encoded outcome. ``communicator``: a Fortran handle."""
        function = InTeam(self._function, self._from_handle(communicator))
        return bytes(evaluate(function, self._set_up, request, self._process))


def _communicators() -> Callable[[int], Any]:
    """The function that converts a Fortran handle to a communicator of mpi4py."""
    try:
        import mpi4py
    except ImportError:
        raise _core.InputError(
            "a Python function gets the communicator of its team from mpi4py, which is not installed; write "
            "`python -m pip install mpi4py`"
        ) from None
    mpi4py.rc.initialize = mpi4py.rc.finalize = False
    ours = _core.mpi_library()  # it looks at what this process has loaded
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError, OSError) as error:
        raise _core.InputError(f"mpi4py cannot load an MPI ({sentence(error)}); {_ADVICE}") from None
    if not MPI.Is_initialized():
        other = MPI.Get_library_version().partition(",")[0].strip()
        raise _core.InputError(f"mpi4py has loaded {other}, but this launch uses {ours}; {_ADVICE}")
    return MPI.Comm.f2py
