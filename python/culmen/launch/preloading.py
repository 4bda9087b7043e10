"""Runs an MPI program with a library of culmen preloaded into its ranks."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from .._core import InputError
from ..base.signals import STOP_SIGNALS, handling
from .launcher import names_hosts
from .mpi import Launcher, LauncherError, find_launcher, recognise
from .mpi.linked import module_among
from .programs import own_library, said_by
from .supervision import end_with_parent
from .watched import wait_for

_HOSTS = {"-H", "-host", "--host", "-hostfile", "--hostfile", "-machinefile", "--machinefile", "--default-hostfile"}
_SETTINGS = "OMPI_MCA_"
_STANDARD = "abi"
_SANITIZER = "libasan.so"
_MOST_OF_A_SCRIPT = 1 << 20  # bytes
_WORD = re.compile(r"[^\s\"'`;&|()<>=]+")
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


def library_for(command: list[str], name: str, example: str, mpi: str | None = None) -> Path:
    """culmen's library of this name for an MPI. Raises InputError if there is none.

    mpi: as for ``culmen launch``; None: the MPI of the command. example: the start of a right command line, for the
    message.
    """
    module = _module_of(command, mpi) or _module_in_scripts(command)
    if not module:
        raise InputError(
            f"'{' '.join(command)}' names neither a launcher of an MPI that culmen knows nor a program that links one; "
            f"name the MPI with --mpi, or write the launcher: {example} -- mpiexec -n 4 ./app"
        )
    library = own_library(f"{name}_{module}")
    if not library.exists():
        raise InputError(f"culmen was built without {module}; build it again where that MPI's mpicc is on PATH")
    return library


def _module_of(command: list[str], mpi: str | None) -> str:
    """The module of the MPI that the option --mpi or the words of the command name; empty if nothing names one."""
    programs = {word: found for word in command if (found := _program_of(word)).kind}
    first, kind = f"--mpi {mpi}", _module_named(mpi) if mpi else ""
    if not kind and programs:
        first, (kind, _) = next(iter(programs.items()))
    for word, (own, linked) in programs.items():
        if own == _STANDARD:
            raise InputError(f"{word} uses the standard ABI of MPI (libmpi_abi), which culmen does not know yet")
        if own != kind and not is_launcher(word):
            raise InputError(f"{word} was built for {own}, but {first} belongs to {kind}; use the launcher of {own}")
        if not is_launcher(word):
            _check_sanitizer(word, linked)
    return kind


def _module_named(mpi: str) -> str:
    try:
        return find_launcher(mpi).mpi.module
    except LauncherError as error:
        raise InputError(f"--mpi: {error}") from None


def _module_in_scripts(command: list[str]) -> str:
    """The module of the first MPI that a script among these words names. If a script names none, the MPI of the
    default launcher. Empty without a script, or without an MPI."""
    scripts = [text for word in command if (text := _script(word))]
    for word in dict.fromkeys(word for text in scripts for word in _WORD.findall(text)):
        if is_launcher(word) or "/" in word:
            found = _program_of(word)
            _check_sanitizer(word, found.linked)
            if found.kind and found.kind != _STANDARD:
                return found.kind
    if not scripts:
        return ""
    with suppress(LauncherError):
        return find_launcher(None).mpi.module
    return ""


def _script(word: str) -> str:
    """The text of a script: of a file, or the word itself if it is a line of commands. Empty for other words."""
    try:
        path = Path(word if Path(word).is_file() else shutil.which(word) or word)
        data = _head_of(path) if path.is_file() else b""
    except OSError:  # also for a name that is too long
        return word if " " in word.strip() else ""
    if data:
        return "" if b"\0" in data else data.decode("utf-8", "replace")
    return word if " " in word.strip() else ""


def _head_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MOST_OF_A_SCRIPT)


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
    added = preloaded(library, variables)
    command = forwarding(command, [*added])
    try:
        return wait(command, {**os.environ, **added})
    except OSError as error:
        raise InputError(f"the program '{command[0]}' cannot be run: {error.strerror}") from None


def preloaded(library: Path | None, variables: Mapping[str, str]) -> dict[str, str]:
    """The variables, and those that load the library."""
    added = dict(variables)
    if "OMPI_COMM_WORLD_RANK" in os.environ:
        added["CULMEN_WITHIN_OPEN_MPI"] = "1"  # see src/mpiprobe/mpi.c
    if library is not None:
        added["LD_PRELOAD"] = preload_with(library)
    return added


def preload_with(library: Path) -> str:
    """The value of LD_PRELOAD that also loads this library. GCC's address sanitizer must stay the first one."""
    given = os.environ.get("LD_PRELOAD", "")
    both = [given, str(library)] if _SANITIZER in given else [str(library), given]
    return ":".join(filter(None, both))


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


def flags_of_variables(launcher: Launcher, names: Iterable[str], environment: Mapping[str, str]) -> list[str]:
    """The same options for a launcher of culmen's own ranks. ``environment``: the whole one. Open MPI always sends the
    variables with its own settings."""
    if launcher.mpi.module != "openmpi" or not names_hosts(environment):
        return []
    return [word for name in names if not name.startswith(_SETTINGS) for word in ("-x", name)]


def is_launcher(word: str) -> bool:
    return Path(word).name.startswith(_LAUNCHERS)


def is_static(word: str) -> bool:
    """Whether it is a program without shared libraries, into which no library can be loaded."""
    program = shutil.which(word)
    if program is None or word.startswith("-") or not _head_of(Path(program)).startswith(b"\x7fELF"):
        return False
    said = said_by("ldd", program)
    return "not a dynamic executable" in said or "statically linked" in said


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
