"""Finds the MPI for which a program was built."""

from pathlib import Path

from ..programs import said_by
from . import Launcher, Mpi, load


def module_linked_by(program: str | Path) -> str:
    """The ``module`` of the MPI whose library the program links; "" if it links no library that culmen knows."""
    return module_among(said_by("ldd", str(program)))


def module_among(linked: str) -> str:
    """The same for the libraries that ldd prints."""
    return next((mpi.module for mpi in load() if any(name in linked for name in mpi.libraries)), "")


def compilers_of(launcher: Launcher) -> tuple[str, str]:
    """The compilers for C and C++ that belong to this launcher: they are in its folder, and their names have the same
    ending."""
    path = Path(launcher.program)
    _, _, ending = path.name.partition("mpiexec" if "mpiexec" in path.name else "mpirun")
    c, cxx = (str(path.with_name(name + ending)) for name in ("mpicc", "mpicxx"))
    return c, cxx


def is_for(mpi: Mpi, program: str | Path) -> bool:
    """Whether this MPI can run the program. Also true if the program does not show which MPI it needs."""
    return module_linked_by(program) in ("", mpi.module)
