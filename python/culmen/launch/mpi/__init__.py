"""What culmen knows of each MPI: one data file per MPI and version.

Supporting another one is a data file and a test.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_BARE = ("mpiexec", "mpirun")
_VERSION_TIMEOUT_S = 20


@dataclass(frozen=True)
class Words:
    """What a situation adds to the launcher's command line and environment."""

    flags: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Mpi:
    """One MPI and version, as its data file tells it; ``always`` and the rest are situations of a launch.

    ``naps``: its launcher sleeps after a rank's failure, whoever is left, until SIGCHLD wakes it.
    ``shm_bytes_per_rank``: what it takes of /dev/shm at its start; ``small_shm``: where less is free.
    """

    title: str
    name: str
    module: str
    recognise: str
    launchers: list[str]
    naps: bool = False
    shm_bytes_per_rank: int = 0
    always: Words = Words()
    oversubscribed: Words = Words()
    root: Words = Words()
    one_machine: Words = Words()
    small_shm: Words = Words()


@dataclass(frozen=True)
class Launcher:
    """A launcher that is there, and whose it is."""

    program: str
    mpi: Mpi


class LauncherError(ValueError):
    """No launcher fits what was asked for; the text is one sentence."""


def load() -> list[Mpi]:
    """Every MPI that culmen knows."""
    files = sorted((f for f in resources.files(__name__).iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return [_parse(tomllib.loads(file.read_text(encoding="utf-8"))) for file in files]


def _parse(data: dict[str, Any]) -> Mpi:
    fields: dict[str, Any] = {key: Words(**v) if isinstance(v, dict) else v for key, v in data.items()}
    return Mpi(**fields)


def recognise(version: str) -> Mpi | None:
    """Whose launcher prints this at ``--version``."""
    return next((mpi for mpi in load() if re.search(mpi.recognise, version)), None)


def find_launcher(wanted: str | None) -> Launcher:
    """``wanted`` is an MPI's name or a launcher's path; None: what the bare mpiexec is, else whichever is there.

    Raises LauncherError.
    """
    if wanted and "/" in wanted:
        return _at(wanted)
    names = list(dict.fromkeys(mpi.name for mpi in load()))
    if wanted and wanted not in names:
        raise LauncherError(f"there is no MPI '{wanted}'; allowed are {', '.join(names)}, or the path of an mpiexec")
    own = [name for mpi in load() if wanted in (None, mpi.name) for name in mpi.launchers]
    order = [*own, *_BARE] if wanted else [*_BARE, *own]
    for launcher in _present(order):
        if wanted in (None, launcher.mpi.name):
            return launcher
    raise LauncherError(
        f"no launcher of {wanted or 'an MPI'} is on PATH (looked for {', '.join(dict.fromkeys(order))}); "
        f"install one, or name its mpiexec by --mpi PATH"
    )


def _present(names: Iterable[str]) -> Iterable[Launcher]:
    for name in dict.fromkeys(names):
        program = shutil.which(name)
        mpi = recognise(_version(program)) if program else None
        if program and mpi:
            yield Launcher(name, mpi)


def _at(path: str) -> Launcher:
    if not os.access(path, os.X_OK):
        raise LauncherError(f"'{path}' is no program that can be run; --mpi wants openmpi, mpich or an mpiexec's path")
    version = _version(path)
    mpi = recognise(version)
    if mpi is None:
        known = ", ".join(mpi.title for mpi in load())
        said = version.strip().partition("\n")[0]
        raise LauncherError(f"'{path}' is no launcher that culmen knows (it says '{said}'); known are {known}")
    return Launcher(path, mpi)


def _version(program: str) -> str:
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=_VERSION_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr
