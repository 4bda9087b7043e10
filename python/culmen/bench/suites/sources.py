"""Sources that the user has, as a folder or an archive, and the commands that build them."""

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...base.digest import of_files

_ERROR = re.compile(r"\berror\b", re.IGNORECASE)
_OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")  # variables of another make, which may have started culmen
_SAID = 200  # characters of an error message of a compiler
_ARCHIVES = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar")
# Pythons before 3.10.12 and 3.11.4 have no filters.
_SAFELY: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
Step = Callable[[str], None]  # gets a text about the current step


def name_of(sources: Path) -> str:
    """The name of the sources, without the ending of an archive."""
    ending = next((ending for ending in _ARCHIVES if sources.name.endswith(ending)), "")
    return sources.name.removesuffix(ending) if ending else sources.resolve().name


def checksum_of(sources: Path) -> str:
    try:
        return of_files({"sources": sources})["sources"]
    except (OSError, KeyError):
        raise InputError(f"{sources} cannot be read") from None


def unpacked(sources: Path, to: Path, step: Step) -> Path:
    """A copy of the sources; the user's sources are not changed. If an archive has one folder, the copy is this
    folder."""
    step(f"{'Copying' if sources.is_dir() else 'Unpacking'} {sources.name}")
    try:
        if sources.is_dir():
            shutil.copytree(sources, to, symlinks=True, ignore=shutil.ignore_patterns(".git"))
            if link := _link_outside(to):
                raise InputError(
                    f"{sources}: the link {link} leads outside of this folder; copy the sources with `cp -rL`, and "
                    "give the copy"
                )
            return to
        with tarfile.open(sources) as archive:
            _extract(archive, sources, to)
    except tarfile.TarError:
        raise InputError(f"{sources} is neither a folder nor a tar archive") from None
    except (OSError, shutil.Error) as error:
        raise InputError(f"{sources} cannot be copied to {to}: {getattr(error, 'strerror', None) or error}") from None
    inside = list(to.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else to


def _link_outside(copied: Path) -> Path | None:
    """A link that leads outside, if there is one: a build through it would change the user's files."""
    inside = Path(os.path.realpath(copied))
    for path in copied.rglob("*"):
        if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(inside):
            return path.relative_to(copied)
    return None


def _extract(archive: tarfile.TarFile, sources: Path, to: Path) -> None:
    """Raises InputError if the archive names files outside the folder: it can name any file of the machine."""
    members = archive.getmembers()
    links = {os.path.normpath(member.name) for member in members if member.issym()}
    for member in members:
        if _is_outside(member):
            raise _refused(sources, member.name)
        if _is_through(links, member):
            raise _refused(sources, member.name, "be written through a link")
    try:
        archive.extractall(to, **_SAFELY)  # noqa: S202 - the members were looked at
    except getattr(tarfile, "FilterError", ()) as error:
        shutil.rmtree(to, ignore_errors=True)
        raise _refused(sources, error.tarinfo.name) from None
    if link := _link_outside(to):
        shutil.rmtree(to)
        raise _refused(sources, str(link))


def _refused(sources: Path, name: str, why: str = "lie outside the folder") -> InputError:
    return InputError(f"{sources}: '{name}' would {why}; it was not unpacked")


def _is_outside(member: tarfile.TarInfo) -> bool:
    """Judged by the names alone."""
    places = [Path(member.name)]
    if member.issym():
        places.append(places[0].parent / member.linkname)
    elif member.islnk():
        places.append(Path(member.linkname))
    return member.isdev() or any(
        place.is_absolute() or Path(os.path.normpath(place)).parts[:1] == (os.pardir,) for place in places
    )


def _is_through(links: Collection[str], member: tarfile.TarInfo) -> bool:
    """Whether the member would be written through a link of the archive, which can lead to any place."""
    places = [Path(member.name), *([Path(member.linkname)] if member.islnk() else [])]
    passed = [parent for place in places for parent in place.parents]
    return any(os.path.normpath(each) in links for each in (*passed, *(() if member.issym() else places)))


def run_step(
    command: list[str], place: Path, log: Path, step: Step, variables: Mapping[str, str] | None = None
) -> None:  # fmt: skip
    """Runs a command. ``step`` gets each line that it prints. ``variables``: additional environment variables. Raises
    InputError if the command fails."""
    name = Path(command[0]).name
    step(f"Running {name}")
    environment = {key: value for key, value in os.environ.items() if key not in _OF_MAKE} | dict(variables or {})
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
