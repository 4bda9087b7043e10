"""Sources that the user has, as a folder or an archive, and the commands that build them."""

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

from ..._core import InputError
from ...base.digest import of_files

_ERROR = re.compile(r"\berror\b", re.IGNORECASE)
_OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")  # variables of another make, which may have started culmen
_SAID = 200  # characters of an error message of a compiler
_ARCHIVES = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar")
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
            _refuse_links_outside(sources, to)
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


def _refuse_links_outside(sources: Path, copied: Path) -> None:
    """Raises InputError if a link leads outside: a build through it would change the user's files."""
    inside = copied.resolve()
    for path in copied.rglob("*"):
        if path.is_symlink() and not path.resolve().is_relative_to(inside):
            raise InputError(
                f"{sources}: the link {path.relative_to(copied)} leads outside of this folder; copy the sources with "
                "`cp -rL`, and give the copy"
            )


def _refuse_places_outside(archive: tarfile.TarFile, sources: Path) -> None:
    """Raises InputError if an archive names files outside the folder: it can name any file of the machine."""
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
