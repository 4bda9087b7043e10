"""Runs a program with the probe preloaded, so that each rank of an MPI program leaves a profile."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from .._core import InputError
from ..launch.preloading import check_command, library_for, run_preloaded

Run = Callable[[list[str], Path | None, Mapping[str, str]], int]


def run_profiled(
    command: list[str], folder: Path, period: int = 0, run: Run = run_preloaded, mpi: str | None = None
) -> int:
    """Returns the exit code of the command, which prints as always.

    period: each period-th collective call or receive first waits for the other ranks; 0: no call waits. run: as
    ``run_preloaded``. mpi: as for ``library_for``.

    Raises InputError if the command cannot run or no MPI is found in it.
    """
    if command[0].endswith(".db") and shutil.which(command[0]) is None:
        raise InputError(
            f"{command[0]} is no program; for the profiles of a fit, write `culmen errors {command[0]} --profile`"
        )
    check_command(command)
    probe = library_for(command, "mpiprobe", "culmen profile", mpi)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder {folder} cannot be made: {error.strerror}; choose another --output") from None
    variables = {"CULMEN_PROFILE_DIR": str(folder.resolve()), "CULMEN_PROFILE_IMBALANCE": str(period)}
    return run(command, probe, variables)
