"""Compiles the sources of HPL, of HPC Challenge, or of another program with the same name."""

import os
import re
import shlex
from pathlib import Path

from ... import _core
from ..._core import InputError
from ...bench.suites.sources import Step, run_step
from .recipe import Recipe

NAMES = ("xhpl", "hpcc")
_ARCH = "culmen"
_FROM_LEAVES = "../../.."  # the folders of HPL in which it compiles
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


def made_in(place: Path, recipe: Recipe, mpicc: str, log: Path, step: Step) -> Path:
    """Compiles the program, and returns its path. The sources can be of HPC Challenge, of HPL, or others with configure
    or a Makefile. Raises InputError if this fails."""
    _remove_results(place)
    _modernise(place)
    variables = _variables(recipe)
    if (folder := _folder_of_arch(place)) is not None:
        text = _arch_file(recipe, mpicc)
        (folder / f"Make.{_ARCH}").write_text(text, encoding="utf-8")
    for words in _commands(place, recipe, mpicc):
        run_step(words, place, log, step, variables)
    found = sorted(path for path in place.rglob("*") if path.name in NAMES and path.is_file() and _runs(path))
    if not found:
        raise InputError(f"make made no program {' or '.join(NAMES)}; all that it printed is in {log}")
    return found[-1]


def _runs(path: Path) -> bool:
    """Whether this is a binary program. A script with this name belongs to libtool."""
    with path.open("rb") as file:
        return os.access(path, os.X_OK) and file.read(4) == b"\x7fELF"


def commands_in(place: Path, recipe: Recipe, mpicc: str) -> list[str]:
    """The lines that build these sources, for people. Raises InputError if nothing can build them."""
    before = " ".join(f"{name}={shlex.quote(value)}" for name, value in _variables(recipe).items())
    lines = [f"{before} {shlex.join(words)}".strip() for words in _commands(place, recipe, mpicc)]
    if (folder := _folder_of_arch(place)) is None:
        return lines
    file, blas = (folder / f"Make.{_ARCH}").relative_to(place), " ".join(recipe.blas)
    return [f"{file}: CC = {mpicc}, CCFLAGS = … {recipe.flags}, LAlib = {blas}", *lines]


def _variables(recipe: Recipe) -> dict[str, str]:
    """The environment variables of the build."""
    name = recipe.launcher.mpi.compiler_in
    return {name: recipe.compiler.path} if name else {}


def _folder_of_arch(place: Path) -> Path | None:
    """The folder for the file with the compiler and its flags, in HPC Challenge and in HPL; None for other sources."""
    return next((folder for folder in (place / "hpl", place) if (folder / "Make.top").is_file()), None)


def _commands(place: Path, recipe: Recipe, mpicc: str) -> list[list[str]]:
    jobs, folder = f"-j{_core.usable_cpus()}", _folder_of_arch(place)
    if folder == place:
        return [["make", f"arch={_ARCH}", *words] for words in (["startup"], ["refresh"], ["build", jobs])]
    if folder is not None:
        return [["make", f"arch={_ARCH}", jobs]]
    words = [f"CC={mpicc}", f"CFLAGS={recipe.flags}", f"LIBS={' '.join(recipe.blas)} -lm"]
    configure = place / "configure"
    if configure.is_file():
        return [[str(configure.resolve()), *words], ["make", jobs]]
    if not any((place / name).is_file() for name in ("GNUmakefile", "makefile", "Makefile")):
        raise InputError("the sources have no Make.top of HPL, no configure and no Makefile")
    return [["make", jobs, *words]]


def _arch_file(recipe: Recipe, mpicc: str) -> str:
    blas = " ".join(recipe.blas)
    return _ARCH_FILE.format(arch=_ARCH, top=_FROM_LEAVES, blas=blas, mpicc=mpicc, flags=recipe.flags)


def _remove_results(copied: Path) -> None:
    """Removes the results of an earlier build by the user. Otherwise make would use them."""
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
