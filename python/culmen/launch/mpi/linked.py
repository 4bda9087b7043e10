"""Which MPI a program was built for."""

from pathlib import Path

from ..programs import said_by
from . import Launcher, Mpi, load


def module_linked_by(program: str | Path) -> str:
    """The ``module`` of the MPI whose library the program links; "" if it links none of those that culmen knows."""
    linked = said_by("ldd", str(program))
    return next((mpi.module for mpi in load() if any(name in linked for name in mpi.libraries)), "")


def compilers_of(launcher: Launcher) -> tuple[str, str]:
    """The compilers for C and for C++ that belong to this launcher: they lie beside it, and their names end alike."""
    path = Path(launcher.program)
    _, _, ending = path.name.partition("mpiexec" if "mpiexec" in path.name else "mpirun")
    c, cxx = (str(path.with_name(name + ending)) for name in ("mpicc", "mpicxx"))
    return c, cxx


def is_for(mpi: Mpi, program: str | Path) -> bool:
    """Whether this MPI can run the program. True also if the program does not show which MPI it needs."""
    return module_linked_by(program) in ("", mpi.module)
