"""Builds HPL, or HPC Challenge, from sources that the user has: with one MPI, compiler, flags and BLAS."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import _core
from ..._core import InputError
from ...base.digest import of_files
from ...bench.suites.programs import version_of
from ...bench.suites.sources import Step, checksum_of, run_step, unpacked
from ...launch.mpi import Launcher, LauncherError, find_launcher, load
from ...launch.mpi.linked import compilers_of, is_for, module_linked_by
from .compilers import Compiler, listed

RECORD, LOG = "culmen-build.json", "build.log"
ARCH = "culmen"
NAMES = ("xhpl", "hpcc")
_SOURCES = "sources"
_KEY = 12  # characters
_FROM_LEAVES = "../../.."  # of HPL, the folders in which it compiles
_INSTEAD = {b"MPI_Address": b"MPI_Get_address", b"MPI_Type_struct": b"MPI_Type_create_struct"}
_REMOVED = re.compile(rb"\b(MPI_Address|MPI_Type_struct)\b(?=\s*\()")
_ARCH_FILE = """\
SHELL = /bin/sh
CD = cd
CP = cp
LN_S = ln -s
MKDIR = mkdir
RM = /bin/rm -f
TOUCH = touch
ARCH = {arch}
TOPdir = {top}
INCdir = $(TOPdir)/include
BINdir = $(TOPdir)/bin/$(ARCH)
LIBdir = $(TOPdir)/lib/$(ARCH)
HPLlib = $(LIBdir)/libhpl.a
LAlib = {blas}
F2CDEFS = -DAdd_ -DF77_INTEGER=int -DStringSunStyle
HPL_INCLUDES = -I$(INCdir) -I$(INCdir)/$(ARCH)
HPL_LIBS = $(HPLlib) $(LAlib) -lm
HPL_DEFS = $(F2CDEFS) $(HPL_INCLUDES)
CC = {mpicc}
CCNOOPT = $(HPL_DEFS)
CCFLAGS = $(HPL_DEFS) {flags}
LINKER = $(CC)
LINKFLAGS = $(CCFLAGS)
ARCHIVER = ar
ARFLAGS = r
RANLIB = ranlib
"""


@dataclass(frozen=True)
class Sources:
    """``checksum``: of their content."""

    path: Path
    checksum: str

    @classmethod
    def at(cls, path: Path) -> "Sources":
        """Raises InputError."""
        if not path.exists():
            raise InputError(f"--build {path}: there is no such file or folder")
        return cls(path, checksum_of(path))


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
    """``text``: names, or paths of mpiexec; None: those of this machine that have a C compiler. Raises InputError."""
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


def build(sources: Sources, recipe: Recipe, folder: Path, step: Step) -> tuple[Path, bool]:
    """The program, and whether it was built now. ``folder``: of all builds. A build with the same sources, compiler,
    flags and MPI is not repeated. Raises InputError with the compiler's message if it fails."""
    mpicc = str(shutil.which(compilers_of(recipe.launcher)[0]))
    wanted = {
        "sources": sources.checksum, "mpi": version_of(recipe.launcher), "mpicc": mpicc,
        "compiler": [recipe.compiler.path, recipe.compiler.title], "flags": recipe.flags, "blas": list(recipe.blas),
    }  # fmt: skip
    key = hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()[:_KEY]
    place = folder / key
    if (before := _built(place, wanted)) is not None:
        return before, False
    shutil.rmtree(place, ignore_errors=True)
    try:
        place.mkdir(parents=True)
    except OSError as error:
        raise InputError(f"{place} cannot be written: {error.strerror}") from None
    copied = unpacked(sources.path, place / _SOURCES, step)
    _remove_results(copied)
    _modernise(copied)
    program = _built_in(copied, recipe, mpicc, place / LOG, step)
    if not is_for(recipe.launcher.mpi, program):
        raise InputError(f"{mpicc} builds programs for {module_linked_by(program)}, not for {recipe.mpi}")
    kept = place / program.name
    shutil.copy2(program, kept)
    shutil.rmtree(place / _SOURCES)
    content = {"wanted": wanted, "program": kept.name, "sha256": of_files({"program": kept})["program"]}
    (place / RECORD).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return kept, True


def _built(place: Path, wanted: dict[str, Any]) -> Path | None:
    try:
        record = json.loads((place / RECORD).read_text(encoding="utf-8"))
        program = place / record["program"]
        whole = record["wanted"] == wanted and of_files({"program": program}) == {"program": record["sha256"]}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return program if whole else None


def _remove_results(copied: Path) -> None:
    """Of an earlier build by the user, which make would take for its own."""
    for path in [*copied.rglob("*.o"), *(path for name in NAMES for path in copied.rglob(name))]:
        if path.is_file() and (path.suffix == ".o" or _runs(path)):
            path.unlink()


def _modernise(copied: Path) -> None:
    """HPL before 2.3 calls functions that MPI 3 removed, which Open MPI 4 refuses. The new ones have the same
    parameters."""
    for path in copied.rglob("*.c"):
        text = path.read_bytes()
        fresh = _REMOVED.sub(lambda found: _INSTEAD[found[1]], text)
        if fresh != text:
            path.write_bytes(fresh)


def _built_in(place: Path, recipe: Recipe, mpicc: str, log: Path, step: Step) -> Path:
    """By the ways of HPC Challenge, of HPL, and of other programs."""
    variables = {recipe.launcher.mpi.compiler_in: recipe.compiler.path} if recipe.launcher.mpi.compiler_in else {}
    jobs = f"-j{_core.usable_cpus()}"
    if (place / "hpl" / "Make.top").is_file():
        _write_arch_file(place / "hpl", recipe, mpicc)
        goals: Sequence[list[str]] = [[f"arch={ARCH}", jobs]]
    elif (place / "Make.top").is_file():
        _write_arch_file(place, recipe, mpicc)
        goals = [[f"arch={ARCH}", "startup"], [f"arch={ARCH}", "refresh"], [f"arch={ARCH}", "build", jobs]]
    else:
        words = [f"CC={mpicc}", f"CFLAGS={recipe.flags}", f"LIBS={' '.join(recipe.blas)} -lm"]
        goals = [[jobs, *_configured(place, words, log, step, variables)]]
    for words in goals:
        run_step(["make", *words], place, log, step, variables)
    found = sorted(path for path in place.rglob("*") if path.name in NAMES and path.is_file() and _runs(path))
    if not found:
        raise InputError(f"make made no program {' or '.join(NAMES)}; all that it printed is in {log}")
    return found[-1]


def _runs(path: Path) -> bool:
    """A script with this name is libtool's, not the program."""
    with path.open("rb") as file:
        return os.access(path, os.X_OK) and file.read(4) == b"\x7fELF"


def _configured(place: Path, words: list[str], log: Path, step: Step, variables: dict[str, str]) -> list[str]:
    """The words that make still needs."""
    configure = place / "configure"
    if configure.is_file():
        run_step([str(configure.resolve()), *words], place, log, step, variables)
        return []
    if not any((place / name).is_file() for name in ("GNUmakefile", "makefile", "Makefile")):
        raise InputError("the sources have no Make.top of HPL, no configure and no Makefile")
    return words


def _write_arch_file(folder: Path, recipe: Recipe, mpicc: str) -> None:
    text = _ARCH_FILE.format(
        arch=ARCH, top=_FROM_LEAVES, blas=" ".join(recipe.blas), mpicc=mpicc, flags=recipe.flags
    )  # fmt: skip
    (folder / f"Make.{ARCH}").write_text(text, encoding="utf-8")
