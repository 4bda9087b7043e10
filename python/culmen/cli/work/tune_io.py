"""``culmen tune io``: settings with which a program writes and reads files faster."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...base.exit_codes import FINISHED
from ...bench.held import folder_to_tune
from ...launch.launcher import cores
from ...tune.command.line import Wanted, recipe_for, settings_of, usual_runs, write_plan
from ...tune.command.results import Tuned
from ...tune.command.submitted import typed_words
from ...tune.command.tuner import Tuner, stores_in
from ...tune.command.worth import Use
from ...tune.io import applied
from ...tune.io.benchmark import Own
from ...tune.io.folder_in_words import check_folder, where_files_are
from ...tune.io.found import HINTS, Found, about_mpi_io, found_in, write_hints
from ...tune.io.scratch import Scratch
from ...tune.io.space import Space, mpi_of, plan_of, space_of
from ...tune.iobuf.report import read_reports, why_nothing
from ...tune.iobuf.settings import library
from ...tune.placement.line import nodes_of
from .stopped import continues
from .tune_command import tune

__all__ = ["Own", "Use", "Wanted", "tune_io"]

_NAME = "io"
_EXAMPLE = "example: culmen tune io -- mpiexec -n 4 ./app {folder}"


@continues
def tune_io(
    words: list[str],
    own: Own,
    folder: Path,
    wanted: Wanted,
    iobuf: bool,
    dry_run: bool,
    output: Path | None,
    overwrite: bool,
    quiet: bool,
    scratch: Path | None = None,
    typed: Sequence[str] = (),
) -> int:
    """``scratch``: see KeptStore. ``typed``: options of the command, for the result. Returns an exit code. Raises
    InputError if the command is wrong, or if the program fails as it was typed."""
    check(words, own, folder)
    command = typed_words(_NAME, [*typed], words)
    variables: dict[str, str] = {}
    if not words:
        words, variables = own.words()
        os.environ.update(variables)
        if wanted.figure is None:
            wanted = replace(wanted, figure=own.figure(), maximize=True)
    mpi = mpi_of(words)
    benchmark = own.pattern is not None
    space = space_of(words, mpi, folder, own.api if benchmark else "", own.pattern, library() if iobuf else None)
    _explain(words, folder, space, quiet)
    if not space.parameters:
        print(f"There is nothing to tune{'' if iobuf else '; add --iobuf to try buffers'}.")
        return FINISHED
    if dry_run:
        return FINISHED
    plan = plan_of(words, mpi, space, Path.cwd())
    all_cores = cores() * nodes_of(words, mpi)

    def more(tuned: Tuned) -> dict[str, Any]:
        found = found_in(tuned, variables, plan, folder, (results / HINTS).resolve())
        about_hints = [] if benchmark or not tuned.is_better else about_mpi_io(plan, settings_of(tuned.new))
        ending = [*_about_buffers(place.path), *about_hints, *_ending(found, tuned.is_better, results)]
        return {"command": command, "ending": ending}

    with folder_to_tune(output or Path(f"tune-{_NAME}"), stores_in) as results, Scratch(folder) as place:
        path = write_plan(results, {**plan, "files": str(folder.resolve())}, overwrite)
        runs = usual_runs(space.runs)
        recipe = recipe_for(_NAME, wanted, space.parameters, {}, runs, applied.__file__, path, all_cores)
        os.environ[applied.BASE] = str(place.path.resolve())
        tune(Tuner(recipe, path, results, quiet, limits=True, scratch=scratch, more=more), overwrite)
    return FINISHED


def check(words: list[str], own: Own, folder: Path) -> None:
    """As far as it does not depend on the machine. Raises InputError."""
    if not folder.is_dir():
        raise InputError(f"--folder {folder}: there is no such folder")
    if not words and own.pattern is None:
        raise InputError(f"a command after -- is missing, or --pattern for culmen's own benchmark; {_EXAMPLE}")
    if words and own.pattern is not None:
        raise InputError("--pattern is for culmen's own benchmark; leave it out, or the command after --")
    if words:
        check_folder(words, folder)


def _explain(words: list[str], folder: Path, space: Space, quiet: bool) -> None:
    """With ``quiet``, only the sentences without which the user may lose files or does not understand the result."""
    where, is_safe = where_files_are(words, folder)
    if not quiet or (space.parameters and not is_safe):
        print(where)
    for name, table in space.parameters.items() if not quiet else ():
        print(f"  {name}: {', '.join(table['choices'])}")
    for sentence in space.left_out if not quiet or not space.parameters else ():
        print(f"Left out: {sentence}")


def _about_buffers(base: Path) -> list[str]:
    """A sentence if runs used the buffers, but no file could be buffered."""
    reports = base / applied.REPORTS
    return list(filter(None, [why_nothing(read_reports(reports))])) if reports.exists() else []


def _ending(found: Found, is_better: bool, results: Path) -> list[str]:
    """The things that the user has to do now. Writes the file with hints, if the line names it."""
    if not is_better:
        return ["Keep this line:", f"  {found.line}"]
    lines = []
    if found.hints is not None:
        write_hints(found.hints, (results / HINTS).resolve())
        lines += [f"Wrote {results / HINTS}:", *(f"  {each}" for each in found.hints.splitlines())]
    if found.striping:
        lines += ["For new files, set the striping of the folder once:", f"  {shlex.join(found.striping)}"]
    return [*lines, "Use this line:", f"  {found.line}"]
