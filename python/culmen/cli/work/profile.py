"""Profiles a program, or shows a profile again."""

from itertools import count
from pathlib import Path

from rich.console import Console

from ..._core import InputError
from ...profile.page import page
from ...profile.recorded import Rank, read_folder
from ...profile.running import run_profiled

_EXAMPLE = "example: culmen profile -- mpiexec -n 4 ./app"


def profile_or_report(words: list[str], folder: Path | None) -> int:
    """Returns the program's exit code; 0 for a report."""
    if not words:
        raise InputError(f"a command after -- is missing; {_EXAMPLE}")
    if words[0] == "report":
        if len(words) != 2:
            raise InputError("write the folder of one profile: culmen profile report FOLDER")
        _show(read_folder(Path(words[1])))
        return 0
    folder = _free(folder)
    code = run_profiled(words, folder)
    if not list(folder.glob("*.profile")):
        raise InputError(
            f"the program ended with exit code {code} and left no profile: it did not call MPI_Init, or it is linked "
            "statically and cannot be profiled"
        )
    _show(read_folder(folder))
    print(f"\nThe profile is in {folder}; `culmen profile report {folder}` shows it again.")
    return code if code >= 0 else 128 - code


def _free(folder: Path | None) -> Path:
    """A folder without a former profile."""
    if folder is None:
        return next(free for k in count(1) if not (free := Path(f"profile-{k}")).exists())
    if any(folder.glob("*.profile")):
        raise InputError(f"{folder} has a profile already; choose another folder, or remove it")
    return folder


def _show(ranks: list[Rank]) -> None:
    Console(highlight=False).print(page(ranks))
