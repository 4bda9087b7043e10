"""Runs a program with the probe preloaded, so that each rank of an MPI program leaves a profile."""

import os
import shutil
import subprocess
from pathlib import Path

from .._core import InputError
from ..launch.mpi import recognise
from ..launch.mpi.linked import module_linked_by
from ..launch.programs import own_library, said_by

_HOSTS = {"-H", "-host", "--host", "-hostfile", "--hostfile", "-machinefile", "--machinefile", "--default-hostfile"}
_LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun")  # other programs are not run to find out what they are


def run_profiled(command: list[str], folder: Path, period: int = 0) -> int:
    """Returns the exit code of the command, which prints as always.

    period: one of so many collective calls and receives first waits for the other ranks; 0: none.

    Raises InputError if the command cannot run or no MPI is found in it.
    """
    if shutil.which(command[0]) is None:
        if command[0].endswith(".db"):
            raise InputError(
                f"{command[0]} is no program; for the profiles of a fit, write `culmen errors {command[0]} --profile`"
            )
        raise InputError(f"the program '{command[0]}' was not found; write the path of a program after --")
    probe = _probe_of(command)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder {folder} cannot be made: {error.strerror}; choose another --output") from None
    preloaded = ":".join(filter(None, [str(probe), os.environ.get("LD_PRELOAD")]))
    variables = {"LD_PRELOAD": preloaded, "CULMEN_PROFILE_DIR": str(folder.resolve())}
    variables["CULMEN_PROFILE_IMBALANCE"] = str(period)
    command = _forwarding(command, [*variables])
    try:
        return subprocess.run(command, env={**os.environ, **variables}).returncode
    except OSError as error:
        raise InputError(f"the program '{command[0]}' cannot be run: {error.strerror}") from None


def _forwarding(command: list[str], names: list[str]) -> list[str]:
    """To other machines, Open MPI's launcher takes only the variables that it is told to take."""
    place = next((k for k, word in enumerate(command) if Path(word).name.startswith(_LAUNCHERS)), None)
    if place is None or not _HOSTS & {*command[place:]} or _kind_of(command[place]) != "openmpi":
        return command
    return [*command[: place + 1], *(word for name in names for word in ("-x", name)), *command[place + 1 :]]


def _probe_of(command: list[str]) -> Path:
    """The library for the MPI of this command."""
    kinds = [kind for word in command if (kind := _kind_of(word))]
    if not kinds:
        raise InputError(
            f"'{' '.join(command)}' names neither a launcher of an MPI that culmen knows nor a program that links one; "
            "example: culmen profile -- mpiexec -n 4 ./app"
        )
    probe = own_library(f"mpiprobe_{kinds[0]}")
    if not probe.exists():
        raise InputError(f"culmen was built without {kinds[0]}; build it again where that MPI's mpicc is on PATH")
    return probe


def _kind_of(word: str) -> str:
    """openmpi, mpich, or nothing for other words."""
    program = shutil.which(word)
    if program is None or word.startswith("-"):
        return ""
    if Path(word).name.startswith(_LAUNCHERS):
        mpi = recognise(said_by(program, "--version"))
        return mpi.module if mpi else ""
    return module_linked_by(program)
