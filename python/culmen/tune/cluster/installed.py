"""The settings file of Open MPI, in which ``culmen tune install`` keeps a block, and the copy of the rules."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ..._core import InputError
from ...launch.mpi import Launcher, LauncherError, find_launcher
from ...launch.mpi.collectives import Collectives
from ..autotune.tuned import Tuning
from ..rules.reader import environment_for, reader_of_rules, variables_for_routes

BEGIN, END = "# culmen tune install: begin", "# culmen tune install: end"
_COPY, _ROUTES = "culmen-rules.conf", "culmen-han-rules.conf"
_INFO = "ompi_info"
_RULES = "coll_tuned_dynamic_rules_filename"


def files_in(folder: Path, site: bool) -> tuple[Path, Path]:
    """The file with the settings, and the copy of the rules."""
    return folder / ("openmpi-mca-params.conf" if site else "mca-params.conf"), folder / _COPY


def routes_copy(copy: Path) -> Path:
    """The copy of the second file. ``copy``: of the rules."""
    return copy.with_name(_ROUTES)


def user_folder() -> Path:
    return Path.home() / ".openmpi"


def site_folder(launcher: Launcher) -> Path:
    beside = Path(shutil.which(launcher.program) or launcher.program).resolve().parent / _INFO
    program = str(beside) if beside.exists() else shutil.which(_INFO)
    words = [program or "", "--path", "sysconfdir", "--parsable"]
    said = subprocess.run(words, capture_output=True, text=True, check=False).stdout if program else ""
    found = re.search(r"path:sysconfdir:(.+)", said)
    if not found:
        raise InputError(f"--site: {_INFO} of {launcher.program} does not say where its configuration is")
    return Path(found[1].strip())


def settings_of(known: Collectives, rules: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """The settings as Open MPI's own file contains them: names have no prefix there."""
    every = {**environment_for(known, rules), **variables}
    return {name.removeprefix(known.prefix): value for name, value in every.items()}


def module_text(launcher: Launcher, rules: Path, variables: Mapping[str, str]) -> str:
    """An environment module that sets the variables."""
    about = f"Rules for the collectives of {launcher.mpi.title}, from culmen tune cluster: {rules.resolve()}"
    settings = (f"setenv {name} {{{value}}}" for name, value in variables.items())
    return "\n".join(["#%Module1.0", f"module-whatis {{{about}}}", *settings]) + "\n"


def with_undo(tuning: Tuning) -> Tuning:
    """A tuning of ``culmen autotune``. If installed rules are the reason why nothing was tuned, the reason also names
    the command that removes them."""
    undo = _how_to_undo() if _RULES in tuning.off else ""
    return replace(tuning, off=f"{tuning.off}; {undo}") if undo else tuning


def _how_to_undo() -> str:
    """Empty if no rules are installed."""
    for site in (False, True):
        with suppress(InputError, LauncherError):
            file = files_in(site_folder(find_launcher("openmpi")) if site else user_folder(), site)[0]
            if BEGIN in lines_of(file):
                command = f"culmen tune install --remove{' --site' if site else ''}"
                return f"`{command}` removes the rules that culmen installed in {file}"
    return ""


def check_no_variables(launcher: Launcher) -> None:
    """Raises InputError if an earlier installation set variables: a measurement would take them for the MPI's own."""
    known = reader_of_rules(launcher)
    if known.rules_kind == "tree":
        return
    usual = settings_of(known, Path(), variables_for_routes(known, Path()))
    for site in (False, True):
        with suppress(InputError):
            file = (site_folder(launcher) if site else user_folder()) / files_in(Path(), site)[0].name
            lines = lines_of(file)
            block = set(lines) - set(without_block(lines)) - {BEGIN, END}
            if any(line.partition("=")[0].strip() not in usual for line in block):
                break
    else:
        return
    raise InputError(
        f"{file} has variables from `culmen tune install`; before you tune variables again, type `culmen tune install "
        f"--remove{' --site' if site else ''}`"
    )


def lines_of(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def without_block(lines: Sequence[str]) -> list[str]:
    if lines.count(BEGIN) != lines.count(END):
        raise InputError(f"a block of `culmen tune install` has no '{BEGIN}' or no '{END}'; remove its lines by hand")
    out, inside = [], False
    for line in lines:
        inside = inside or line == BEGIN
        if not inside:
            out.append(line)
        inside = inside and line != END
    return out


def make_folder(folder: Path, site: bool) -> None:
    """Makes the folder. All users can read the folder of a site, whatever the umask is."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing if site else ():
        each.chmod(0o755)


def replace_file(file: Path, text: str, site: bool) -> None:
    """Replaces the file as a whole, and keeps its permissions and owner. ``site``: all users can read it."""
    file = file.resolve()  # it may be a link
    new = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        new.write_text(text, encoding="utf-8")
        if file.exists():
            shutil.copymode(file, new)
            with suppress(PermissionError):  # only root can give files away
                os.chown(new, file.stat().st_uid, file.stat().st_gid)
        elif site:
            new.chmod(0o644)
        if site:
            new.chmod(new.stat().st_mode | 0o444)
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
