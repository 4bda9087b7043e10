"""Builds a suite of benchmarks that the user has, with the compilers of one MPI."""

import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import _core
from ..._core import InputError
from ...base.digest import of_files
from ...launch.mpi import Launcher
from ...launch.mpi.linked import compilers_of, is_for, module_linked_by
from .programs import IMB, programs_in, version_of

RECORD = "culmen-build.json"
LOG = "build.log"
_SOURCES = "sources"
_ERROR = re.compile(r"\berror\b", re.IGNORECASE)
_OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")  # variables of another make, which may have started culmen
_SAID = 200  # characters of an error message of a compiler
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_ARCHIVES = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar")
Step = Callable[[str], None]  # is told what happens now


@dataclass(frozen=True)
class Built:
    """``programs``: those that culmen can start, below the folder. ``anew``: they were built now."""

    folder: Path
    programs: list[str]
    anew: bool


def name_of(sources: Path) -> str:
    """Without the ending of an archive."""
    ending = next((ending for ending in _ARCHIVES if sources.name.endswith(ending)), "")
    return sources.name.removesuffix(ending) if ending else sources.resolve().name


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
    wanted = {"sources": sources.name, "sha256": _sha_of(sources), "mpi": version_of(launcher), "compilers": compilers}
    before = _record_of(folder)
    if before and not overwrite and _is_whole(folder, before, wanted):
        return Built(folder, sorted(before["programs"]), anew=False)
    _make_room(folder, before, overwrite)
    _write_record(folder, wanted, {})
    place = _unpacked(sources, folder / _SOURCES, step)
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


def _sha_of(sources: Path) -> str:
    try:
        return of_files({"sources": sources})["sources"]
    except (OSError, KeyError):
        raise InputError(f"{sources} cannot be read") from None


def _record_of(folder: Path) -> dict[str, Any] | None:
    """Of an earlier build, also of one that did not end; its ``programs`` are empty."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("programs"), dict) else None


def _is_whole(folder: Path, record: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """The record is of the wanted build, which ended, and the programs are as it left them."""
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
    """An empty folder. A finished build of something else is removed only if the user says so."""
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


def _unpacked(sources: Path, to: Path, step: Step) -> Path:
    """A copy of the sources; the user's stay as they are. Of an archive with one folder, this folder."""
    step(f"{'Copying' if sources.is_dir() else 'Unpacking'} {sources.name}")
    try:
        if sources.is_dir():
            shutil.copytree(sources, to, symlinks=True, ignore=shutil.ignore_patterns(".git"))
            return to
        with tarfile.open(sources) as archive:
            _refuse_places_outside(archive, sources)
            archive.extractall(to)  # noqa: S202 - the members were looked at
    except tarfile.TarError:
        raise InputError(f"{sources} is neither a folder nor a tar archive") from None
    except (OSError, shutil.Error) as error:
        raise InputError(f"{sources} cannot be copied to {to}: {getattr(error, 'strerror', None) or error}") from None
    inside = list(to.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else to


def _refuse_places_outside(archive: tarfile.TarFile, sources: Path) -> None:
    """An archive can name files anywhere on the machine."""
    for member in archive.getmembers():
        places = [Path(member.name)]
        if member.issym():
            places.append(places[0].parent / member.linkname)
        elif member.islnk():
            places.append(Path(member.linkname))
        if member.isdev() or any(_is_outside(place) for place in places):
            raise InputError(f"{sources}: '{member.name}' would lie outside the folder; it was not unpacked")


def _is_outside(place: Path) -> bool:
    return place.is_absolute() or Path(os.path.normpath(place)).parts[:1] == (os.pardir,)


def _compile(place: Path, name: str, compilers: Sequence[str], log: Path, step: Step) -> None:
    words = [f"CC={compilers[0]}", f"CXX={compilers[1]}"]
    configure = place / "configure"
    if configure.is_file():
        _run([str(configure.resolve()), *words], place, log, step)
        words = []  # the Makefiles have them now
    makefile = next((place / name for name in _MAKEFILES if (place / name).is_file()), None)
    if makefile is None:
        hint = "; run autoreconf -i in it first" if (place / "configure.ac").is_file() else ""
        raise InputError(f"{name} has neither a configure nor a Makefile{hint}")
    goal = [IMB] if f"\n{IMB}:" in makefile.read_text(encoding="utf-8", errors="replace") else []
    _run(["make", f"-j{_core.usable_cpus()}", *words, *goal], place, log, step)


def _run(command: list[str], place: Path, log: Path, step: Step) -> None:
    """``step`` is told each line that the command prints. Raises InputError if the command fails."""
    name = Path(command[0]).name
    step(f"Running {name}")
    environment = {key: value for key, value in os.environ.items() if key not in _OF_MAKE}
    said: list[str] = []
    with log.open("a", encoding="utf-8") as file:
        file.write(f"$ {' '.join(command)}\n")
        try:
            process = subprocess.Popen(
                command, cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, errors="replace", env=environment,
            )  # fmt: skip
        except OSError as error:
            raise InputError(f"{name} cannot be run: {error.strerror}") from None
        with process:
            try:
                for line in process.stdout or ():
                    file.write(line)
                    said.append(line.strip())
                    step(f"{name}: {line.strip()}")
            except BaseException:
                process.terminate()
                raise
    if process.returncode != 0:
        errors = [line for line in said if _ERROR.search(line)] or [line for line in said if line][-1:]
        reason = f": {errors[0][:_SAID]}" if errors else ""
        raise InputError(f"{name} ended with exit code {process.returncode}{reason}; all that it printed is in {log}")


def _check_mpi(program: Path, launcher: Launcher, compiler: str) -> None:
    if not is_for(launcher.mpi, program):
        raise InputError(
            f"{compiler} builds programs for {module_linked_by(program)}, not for {launcher.mpi.title}; give the "
            "path of the mpiexec that belongs to it, as --mpi PATH"
        )
