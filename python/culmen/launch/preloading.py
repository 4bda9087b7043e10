"""Runs an MPI program with a library of culmen preloaded into its ranks."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from .._core import InputError
from ..base.signals import STOP_SIGNALS, handling
from .launcher import names_hosts
from .mpi import recognise
from .mpi.linked import module_among
from .programs import own_library, said_by
from .supervision import end_with_parent
from .watched import wait_for

_HOSTS = {"-H", "-host", "--host", "-hostfile", "--hostfile", "-machinefile", "--machinefile", "--default-hostfile"}
_STANDARD = "abi"
_SANITIZER = "libasan.so"
_LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun")  # other programs are not run to find out what they are


class _Program(NamedTuple):
    """``kind``: openmpi or mpich, or _STANDARD for the standard ABI; empty for other programs. ``linked``: the
    libraries of a program that is no launcher, as ldd prints them."""

    kind: str
    linked: str


def check_command(command: list[str]) -> None:
    """Raises InputError if its program does not exist."""
    if shutil.which(command[0]) is None:
        raise InputError(f"the program '{command[0]}' was not found; write the path of a program after --")


def library_for(command: list[str], name: str, example: str) -> Path:
    """culmen's library of this name for the MPI of the command. Raises InputError if there is none.

    example: the start of a right command line, for the message.
    """
    programs = {word: found for word in command if (found := _program_of(word)).kind}
    if not programs:
        raise InputError(
            f"'{' '.join(command)}' names neither a launcher of an MPI that culmen knows nor a program that links one; "
            f"example: {example} -- mpiexec -n 4 ./app"
        )
    first, (kind, _) = next(iter(programs.items()))
    for word, (own, linked) in programs.items():
        if own == _STANDARD:
            raise InputError(f"{word} uses the standard ABI of MPI (libmpi_abi), which culmen does not know yet")
        if own != kind and not is_launcher(word):
            raise InputError(f"{word} was built for {own}, but {first} belongs to {kind}; use the launcher of {own}")
        if not is_launcher(word):
            _check_sanitizer(word, linked)
    library = own_library(f"{name}_{kind}")
    if not library.exists():
        raise InputError(f"culmen was built without {kind}; build it again where that MPI's mpicc is on PATH")
    return library


def _check_sanitizer(word: str, linked: str) -> None:
    """GCC's address sanitizer ends a program if another library is loaded before its own."""
    if _SANITIZER in linked and _SANITIZER not in os.environ.get("LD_PRELOAD", ""):
        raise InputError(
            f"{word} was built with -fsanitize=address, whose library must be loaded before the library of culmen; "
            f"build it without this flag, or set LD_PRELOAD to the path of libasan.so"
        )


def run_preloaded(command: list[str], library: Path | None, variables: Mapping[str, str]) -> int:
    """Returns the exit code of the command, which prints as always. library: None for none.

    Raises InputError if the command cannot run.
    """
    return _run(command, library, variables, _wait_for)


def run_watched(command: list[str], library: Path | None, variables: Mapping[str, str], limit_s: float | None) -> int:
    """The same for a run that counts only if it ends by itself. Raises what ``watched.wait_for`` does."""
    return _run(command, library, variables, partial(wait_for, limit_s=limit_s))


def _run(
    command: list[str],
    library: Path | None,
    variables: Mapping[str, str],
    wait: Callable[[list[str], Mapping[str, str]], int],
) -> int:
    added = dict(variables)
    if "OMPI_COMM_WORLD_RANK" in os.environ:
        added["CULMEN_WITHIN_OPEN_MPI"] = "1"  # see src/mpiprobe/mpi.c
    if library is not None:
        given = os.environ.get("LD_PRELOAD", "")
        both = [given, str(library)] if _SANITIZER in given else [str(library), given]
        added["LD_PRELOAD"] = ":".join(filter(None, both))
    command = forwarding(command, [*added])
    try:
        return wait(command, {**os.environ, **added})
    except OSError as error:
        raise InputError(f"the program '{command[0]}' cannot be run: {error.strerror}") from None


def _wait_for(command: list[str], environment: Mapping[str, str]) -> int:
    """Waits for the command. Signals end the command, not this process, which then reports the results so far. Ctrl-C
    in a terminal reaches the command anyway."""
    child: subprocess.Popen | None = None

    def forward(number: int, _frame: FrameType | None) -> None:
        if child is None:
            raise KeyboardInterrupt
        if number != signal.SIGINT or not sys.stdin.isatty():
            child.send_signal(number)

    with handling(STOP_SIGNALS, forward):
        child = subprocess.Popen(command, env=environment, preexec_fn=end_with_parent)
        return child.wait()


def forwarding(command: list[str], names: list[str]) -> list[str]:
    """The options that pass these variables on: Open MPI's launcher sends only named variables to other machines."""
    place = place_of_variables(command)
    if place is None:
        return command
    return [*command[:place], *(word for name in names for word in ("-x", name)), *command[place:]]


def place_of_variables(command: list[str]) -> int | None:
    """The place for ``-x NAME``, so that a variable reaches other machines; None: it reaches them anyway."""
    place = next((k for k, word in enumerate(command) if is_launcher(word)), None)
    if place is None or not (_HOSTS & {*command[place:]} or names_hosts(os.environ)):
        return None
    if _kind_of(command[place]) != "openmpi":
        return None
    return place + 1


def is_launcher(word: str) -> bool:
    return Path(word).name.startswith(_LAUNCHERS)


def _kind_of(word: str) -> str:
    return _program_of(word).kind


def _program_of(word: str) -> _Program:
    program = shutil.which(word)
    if program is None or word.startswith("-"):
        return _Program("", "")
    if is_launcher(word):
        mpi = recognise(said_by(program, "--version"))
        return _Program(mpi.module if mpi else "", "")
    linked = said_by("ldd", program)
    return _Program(module_among(linked) or (_STANDARD if "libmpi_abi.so" in linked else ""), linked)
