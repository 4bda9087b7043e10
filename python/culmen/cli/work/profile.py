"""Profiles a program, or shows a profile again."""

import sys
from contextlib import suppress
from itertools import count
from json import dumps
from pathlib import Path

from rich.console import Console, Group

from ..._core import InputError
from ...base.exit_codes import as_of_a_shell
from ...launch.preloading import is_static
from ...profile.chosen import choice
from ...profile.exported import as_object
from ...profile.figures import profile_page
from ...profile.marks import of_other_mpi, unmeasured, without_room
from ...profile.page import page
from ...profile.recorded import read_folder, read_rank
from ...profile.running import run_profiled
from ...profile.worlds import Worlds, remark_on, table_of, worlds_of
from ...report.files import replacing
from ...report.page import PAGE

_EXAMPLE = "example: culmen profile -- mpiexec -n 4 ./app"
_OWN_COMMAND = "Profile the programs of each MPI with a command of their own."


def run(words: list[str], folder: Path | None, period: int, mpi: str | None = None) -> int:
    """Returns the program's exit code."""
    if not words:
        raise InputError(f"a command after -- is missing; {_EXAMPLE}")
    folder = _free(folder)
    is_new = not folder.exists()
    try:
        code = run_profiled(words, folder, period, mpi=mpi)
        _show_new(words, folder, code)
    finally:
        if is_new:
            with suppress(OSError):  # it is not empty
                folder.rmdir()
    return as_of_a_shell(code)


def _show_new(words: list[str], folder: Path, code: int) -> None:
    """``code``: of the program. It stays the exit code, also if a file is damaged."""
    try:
        _show_if_there(words, folder, code)
    except InputError as damaged:
        print(f"culmen: {damaged}", file=sys.stderr)


def _show_if_there(words: list[str], folder: Path, code: int) -> None:
    """Raises InputError if a file is damaged."""
    full = without_room(folder)
    if said := _without_profile(words, folder, code, full):
        print(f"culmen: {said}", file=sys.stderr)
        return
    _show(folder, worlds_of(read_folder(folder)))
    if full:
        print(full)
    print(f"\nThe profile is in {folder}; `culmen profile report {folder}` shows it again.")


def _without_profile(words: list[str], folder: Path, code: int, full: str) -> str:
    """Why there is no profile; empty if there is one. full: see without_room."""
    ended = f"the program ended with exit code {as_of_a_shell(code)}"
    if any(rank is not None for rank in map(read_rank, folder.glob("*.profile"))):
        return ""
    if full:
        return f"{ended}; {full}"
    if other := of_other_mpi(folder):
        return f"{ended} and left no profile; {other} {_OWN_COMMAND}"
    if any(folder.glob("*.profile")):
        return f"{ended} and left no profile: no rank came to the end of MPI_Init"
    if static := next((word for word in words if is_static(word)), ""):
        return f"{ended} and left no profile: {static} is linked statically, so culmen cannot profile it"
    if code != 0:
        return f"{ended} before MPI_Init and left no profile; see its messages above"
    return f"{ended} and left no profile: it did not call MPI_Init, or it is linked statically and cannot be profiled"


def _free(folder: Path | None) -> Path:
    """A folder without a former profile."""
    if folder is None:
        return next(free for k in count(1) if not (free := Path(f"profile-{k}")).exists())
    if any(folder.glob("*.profile")):
        raise InputError(f"{folder} has a profile already; choose another folder, or remove it")
    return folder


def report(
    folder: Path,
    json: bool,
    html: bool,
    functions: str | None,
    communicators: str | None,
    sizes: str | None,
    world: int | None,
    all_rows: bool,
) -> int:
    """Shows a profile, or the chosen part of it."""
    if json and html:
        raise InputError("--json prints the profile and --html writes a page; choose one of the two")
    chosen = choice(functions, communicators, sizes)
    worlds = worlds_of(read_folder(folder), world)
    remark = chosen.remark_on(worlds.ranks)
    worlds.all[worlds.chosen] = chosen.among(worlds.ranks)
    if json:
        print(dumps(as_object(worlds, unmeasured(folder))))
    elif html:
        with replacing(folder / "profile.html", PAGE, force=True) as path:
            more = " ".join(filter(None, (remark, _others(folder))))
            path.write_text(profile_page(worlds, bool(chosen), more), encoding="utf-8")
        print(f"Wrote {folder / 'profile.html'}")
    else:
        _show(folder, worlds, bool(chosen), all_rows, sizes=all_rows or sizes is not None)
        print(f"\n{remark}" if remark else "", end="\n" if remark else "")
    return 0


def _show(folder: Path, worlds: Worlds, part: bool = False, all_rows: bool = False, sizes: bool = False) -> None:
    # The words are the program's own: a bracket in them is no markup.
    console = Console(highlight=False, markup=False, emoji=False)
    if remark := remark_on(worlds):
        console.print(Group(table_of(worlds), "", remark, ""), crop=False)
    console.print(page(worlds.ranks, part, all_rows, sizes), crop=False)
    if others := _others(folder):
        console.print(f"\n{others}")


def _others(folder: Path) -> str:
    """Sentences about ranks of another MPI; empty if there are none."""
    other = of_other_mpi(folder)
    return f"{other} {_OWN_COMMAND}" if other else ""
