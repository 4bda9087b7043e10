"""The sources to build, and a recipe for each choice of MPI, compiler, flags and BLAS."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from ..._core import InputError
from ...bench.suites.sources import checksum_of
from ...launch.mpi import Launcher, LauncherError, find_launcher, load
from ...launch.mpi.linked import compilers_of
from .compilers import Compiler, listed


@dataclass(frozen=True)
class Sources:
    """``checksum``: checksum of their content."""

    path: Path
    checksum: str

    @classmethod
    def at(cls, path: Path, builds: Path) -> "Sources":
        """``builds``: the folder for builds. Raises InputError as check_sources() does."""
        check_sources(path, builds)
        return cls(path, checksum_of(path))


def check_sources(path: Path, builds: Path) -> None:
    """Raises InputError if the sources are not there, or if the folder for builds lies in them."""
    if not path.exists():
        raise InputError(f"--build {path}: there is no such file or folder")
    if path.is_dir() and builds.resolve().is_relative_to(path.resolve()):
        raise InputError(f"the folder of the results lies in {path}; choose one elsewhere with --output FOLDER")


@dataclass(frozen=True)
class Recipe:
    """``mpi``: as the user calls it. ``blas``: words for the linker."""

    mpi: str
    launcher: Launcher
    compiler: Compiler
    flags: str
    blas: tuple[str, ...]

    @property
    def choice(self) -> tuple[str, str, str]:
        return self.mpi, self.compiler.name, self.flags

    def __str__(self) -> str:
        return f"{self.mpi}, {self.compiler.name}, {self.flags}"


def mpis_named(text: str | None) -> dict[str, Launcher]:
    """``text``: names, or paths of mpiexec; None for all MPIs of this machine that have a C compiler. Raises InputError
    if there is none."""
    if text is not None:
        return {name: _launcher_of(name) for name in listed(text, "--mpis")}
    known = dict.fromkeys(mpi.name for mpi in load())
    names = dict.fromkeys([*_usual(), *known])  # the usual one first
    found = {}
    for name in names:
        try:
            found[name] = _launcher_of(name)
        except InputError:
            continue
    if not found:
        raise InputError(f"no MPI with a C compiler is on PATH (looked for {', '.join(names)})")
    return found


def _usual() -> list[str]:
    try:
        return [find_launcher(None).mpi.name]
    except LauncherError:
        return []


def _launcher_of(name: str) -> Launcher:
    try:
        launcher = find_launcher(name)
    except LauncherError as error:
        raise InputError(f"--mpis {name}: {error}") from None
    if shutil.which(compilers_of(launcher)[0]) is None:
        raise InputError(
            f"--mpis {name}: {launcher.mpi.title} has no compiler {compilers_of(launcher)[0]} here; install its "
            "package for developers"
        )
    return launcher
