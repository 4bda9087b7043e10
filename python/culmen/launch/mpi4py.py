"""Environment variables with which mpi4py loads the MPI of a launch."""

import os
import re
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from .programs import said_by

_WANTED = "libmpi.so.12"  # mpi4py's wheel links this name of MPICH; Debian's MPICH is libmpich.so.12
_SYSTEM = ("/lib", "/usr/lib")  # the loader looks there by itself


def variables_for_mpi4py(kind: str, module: Path) -> dict[str, str]:
    """Environment variables by which mpi4py loads the MPI that culmen's module links; by default it may load another.

    ``kind``: openmpi or mpich. Empty if the user has chosen, or without mpi4py.
    """
    if "MPI4PY_MPIABI" in os.environ or find_spec("mpi4py") is None or not module.exists():
        return {}
    found = {"MPI4PY_MPIABI": kind}
    linked = re.search(r"^\s*(libmpi(?:ch)?\.so\.\d+) => (\S+) \(", said_by("ldd", str(module)), re.MULTILINE)
    if linked and (folder := _folder_for(linked[1], Path(linked[2]))):
        found["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [os.environ.get("LD_LIBRARY_PATH"), str(folder)]))
    return found


def _folder_for(name: str, library: Path) -> Path | None:
    """Where the loader must look for this library of an MPI; None if it finds it."""
    if name == "libmpich.so.12":
        return _folder_with(library)
    return None if str(library).startswith(_SYSTEM) else library.parent


def _folder_with(library: Path) -> Path | None:
    """A folder in the user's cache in which the library has the name that mpi4py's wheel needs."""
    with suppress(OSError, RuntimeError):
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "culmen", "mpi4py")
        folder.mkdir(parents=True, exist_ok=True)
        link = folder / _WANTED
        if not link.is_symlink() or link.readlink() != library:
            fresh = folder / f"{_WANTED}.{os.getpid()}"
            fresh.symlink_to(library)
            fresh.replace(link)
        return folder
    return None
