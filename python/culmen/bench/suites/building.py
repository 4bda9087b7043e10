"""Builds a suite of benchmarks that the user has, with the compilers of one MPI."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import _core
from ..._core import InputError
from ...base.digest import of_files
from ...launch.mpi import Launcher
from ...launch.mpi.linked import compilers_of, is_for, module_linked_by
from .programs import IMB, programs_in, version_of
from .sources import Step, checksum_of, run_step, unpacked

RECORD = "culmen-build.json"
LOG = "build.log"
_SOURCES = "sources"
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")


@dataclass(frozen=True)
class Built:
    """``programs``: those that culmen can start, below the folder. ``anew``: whether they were built now."""

    folder: Path
    programs: list[str]
    anew: bool


def build(sources: Path, launcher: Launcher, folder: Path, overwrite: bool, step: Step) -> Built:
    """Copies or unpacks the sources into the folder, and builds them there with ``configure`` and ``make``.

    The folder keeps a record of the sources' checksum, the MPI and the programs. The same build is not repeated.

    Raises InputError for sources that cannot be built, and if the folder has something else.
    """
    if not sources.exists():
        raise InputError(f"there is no file or folder {sources}")
    if sources.is_dir() and folder.resolve().is_relative_to(sources.resolve()):
        raise InputError(f"--output {folder} lies in the folder of the sources; choose another one")
    compilers = _compilers(launcher)
    step("Reading the sources")
    wanted = {
        "sources": sources.name,
        "sha256": checksum_of(sources),
        "mpi": version_of(launcher),
        "compilers": compilers,
    }
    before = _record_of(folder)
    if before and not overwrite and _is_whole(folder, before, wanted):
        return Built(folder, sorted(before["programs"]), anew=False)
    _make_room(folder, before, overwrite)
    _write_record(folder, wanted, {})
    place = unpacked(sources, folder / _SOURCES, step)
    _compile(place, str(sources), compilers, folder / LOG, step)
    found = [path for path in programs_in(folder) if not path.is_symlink()]
    if not found:
        raise InputError(
            f"{sources} was built, but it has no program that culmen can start (osu_… or {IMB}); see {folder / LOG}"
        )
    _check_mpi(found[0], launcher, compilers[0])
    programs = of_files({str(path.relative_to(folder)): path for path in found})
    _write_record(folder, wanted, programs)
    return Built(folder, sorted(programs), anew=True)


def _compilers(launcher: Launcher) -> list[str]:
    out = []
    for name in compilers_of(launcher):
        path = shutil.which(name)
        if path is None:
            raise InputError(f"{launcher.mpi.title} has no compiler {name} here; install its package for developers")
        out.append(path)
    return out


def _record_of(folder: Path) -> dict[str, Any] | None:
    """The record of an earlier build. If the build did not end, its ``programs`` are empty."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("programs"), dict) else None


def _is_whole(folder: Path, record: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether the record is of the wanted build, the build ended, and its programs are unchanged."""
    programs = record["programs"]
    if not programs or any(record.get(key) != value for key, value in wanted.items()):
        return False
    return of_files({name: folder / name for name in programs}) == programs


def _write_record(folder: Path, wanted: dict[str, Any], programs: dict[str, str]) -> None:
    text = json.dumps({**wanted, "programs": programs}, indent=2)
    try:
        (folder / RECORD).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder / RECORD} cannot be written: {error.strerror}") from None


def _make_room(folder: Path, before: dict[str, Any] | None, overwrite: bool) -> None:
    """Makes an empty folder. A finished build of something else is removed only if the user says so."""
    try:
        if folder.exists() and (not folder.is_dir() or (before is None and any(folder.iterdir()))):
            raise InputError(f"{folder} exists and has no build of culmen; choose another --output")
        if before and before["programs"] and not overwrite:
            raise InputError(
                f"{folder} has a build of {before.get('sources')} for {before.get('mpi')}, which differs from this "
                "one; replace it with --overwrite, or choose another --output"
            )
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}") from None


def _compile(place: Path, name: str, compilers: Sequence[str], log: Path, step: Step) -> None:
    words = [f"CC={compilers[0]}", f"CXX={compilers[1]}"]
    configure = place / "configure"
    if configure.is_file():
        run_step([str(configure.resolve()), *words], place, log, step)
        words = []  # the Makefiles have them now
    makefile = next((place / name for name in _MAKEFILES if (place / name).is_file()), None)
    if makefile is None:
        hint = "; run autoreconf -i in it first" if (place / "configure.ac").is_file() else ""
        raise InputError(f"{name} has neither a configure nor a Makefile{hint}")
    goal = [IMB] if f"\n{IMB}:" in makefile.read_text(encoding="utf-8", errors="replace") else []
    run_step(["make", f"-j{_core.usable_cpus()}", *words, *goal], place, log, step)


def _check_mpi(program: Path, launcher: Launcher, compiler: str) -> None:
    if not is_for(launcher.mpi, program):
        raise InputError(
            f"{compiler} builds programs for {module_linked_by(program)}, not for {launcher.mpi.title}; give the "
            "path of the mpiexec that belongs to it, as --mpi PATH"
        )
