"""``culmen tune io``: settings with which a program writes and reads files faster."""

import os
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from ..._core import InputError
from ...base.exit_codes import FINISHED, RESUMABLE
from ...bench.kept import folder_for
from ...bench.words import check_known, sizes_of
from ...launch.launcher import cores, situations
from ...launch.mpi import LauncherError, find_launcher
from ...launch.programs import own_program
from ...report.files import Kind, replacing
from ...tune.command.line import Wanted, recipe_for, settings_of, typed_line, write_plan
from ...tune.command.results import Tuned
from ...tune.command.tuner import Tuner
from ...tune.command.worth import Use
from ...tune.io import applied
from ...tune.io.file_system import kind_of
from ...tune.io.scratch import Scratch
from ...tune.io.space import Space, mpi_of, plan_of, space_of
from ...tune.iobuf.settings import library
from ...tune.placement.line import nodes_of
from .tune_command import tune

__all__ = ["Own", "Use", "Wanted", "tune_io"]

_NAME = "io"
_PATTERNS = ("file-per-process", "contiguous", "strided", "collective")
_APIS = ("mpiio", "posix")
_RATES = {"both": "rate", "write": "write", "read": "read"}
_HINTS = "romio-hints"
_HINTS_FILE = Kind("file with hints", lambda _path, head: True)
_EXAMPLE = "example: culmen tune io -- mpiexec -n 4 ./app {folder}"


@dataclass(frozen=True)
class Own:
    """The benchmark that runs without a command."""

    pattern: str | None
    api: str
    measure: str
    ranks: int | None
    size: str
    transfer: str
    mpi: str | None

    def words(self) -> tuple[list[str], dict[str, str]]:
        """The command, and variables of the launcher. Raises InputError."""
        check_known("--pattern", "pattern", [self.pattern or ""], _PATTERNS)
        check_known("--api", "interface", [self.api], _APIS)
        check_known("--measure", "part", [self.measure], tuple(_RATES))
        if self.pattern == "collective" and self.api == "posix":
            raise InputError("--pattern collective needs --api mpiio: POSIX has no collective calls")
        (size, *_), (transfer, *_) = sizes_of(self.size, "--size"), sizes_of(self.transfer, "--transfer")
        if transfer % 8 or not 8 <= transfer <= min(size, 2**24):
            raise InputError(f"--transfer {self.transfer} must be a multiple of 8 bytes, at most 16M and --size")
        try:
            launcher = find_launcher(self.mpi)
        except LauncherError as error:
            raise InputError(str(error)) from None
        program = own_program(f"iobench_{launcher.mpi.module}")
        if not program.exists():
            raise InputError(f"culmen was built without the benchmark for {launcher.mpi.title}; build it again")
        ranks = self.ranks or cores()
        parts = situations(launcher, ranks, True)
        flags = [flag for part in parts for flag in part.flags]
        variables = {name: value for part in parts for name, value in part.environment.items()}
        count = str(size // transfer * transfer)
        words = [str(program), str(self.pattern), self.api, count, str(transfer), applied.FOLDER]
        return [launcher.program, *flags, "-n", str(ranks), *words], variables

    def figure(self) -> str:
        return rf"{_RATES[self.measure]} = (\S+)"


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
) -> int:
    """Returns an exit code. Raises InputError if the command is wrong, or if the program fails as it was typed."""
    if not folder.is_dir():
        raise InputError(f"--folder {folder}: there is no such folder")
    if not words and own.pattern is None:
        raise InputError(f"a command after -- is missing, or --pattern for culmen's own benchmark; {_EXAMPLE}")
    if words and own.pattern is not None:
        raise InputError("--pattern is for culmen's own benchmark; leave it out, or the command after --")
    variables: dict[str, str] = {}
    if not words:
        words, variables = own.words()
        os.environ.update(variables)
        if wanted.figure is None:
            wanted = replace(wanted, figure=own.figure(), maximize=True)
    mpi = mpi_of(words)
    benchmark = own.pattern is not None
    space = space_of(words, mpi, folder, own.api if benchmark else "", own.pattern, library() if iobuf else None)
    if not quiet:
        _explain(folder, space)
    if not space.parameters:
        print("There is nothing to tune.")
        return FINISHED
    if dry_run:
        return FINISHED
    results = folder_for(output or Path(f"tune-{_NAME}"))
    path = write_plan(results, {**plan_of(words, mpi, space, Path.cwd()), "files": str(folder.resolve())}, overwrite)
    all_cores = cores() * nodes_of(words, mpi)
    recipe = recipe_for(_NAME, wanted, space.parameters, {}, space.runs, applied.__file__, path, all_cores)
    with Scratch(folder) as scratch:
        os.environ[applied.BASE] = str(scratch.path.resolve())
        tuned = tune(Tuner(recipe, path, results, quiet, limits=True), overwrite)
    if tuned is None:
        return RESUMABLE
    _show(tuned, words, variables, plan_of(words, mpi, space, Path.cwd()), folder, results)
    return FINISHED


def _explain(folder: Path, space: Space) -> None:
    print(f"The files are in {folder} ({kind_of(folder)}).")
    for name, table in space.parameters.items():
        print(f"  {name}: {', '.join(table['choices'])}")
    for sentence in space.left_out:
        print(f"Left out: {sentence}")


def _show(
    tuned: Tuned,
    words: list[str],
    variables: dict[str, str],
    plan: dict[str, object],
    folder: Path,
    results: Path,
) -> None:
    """What the user has to do now. ``variables``: those that the command needs anyway."""
    settings = settings_of(tuned.new if tuned.is_better else tuned.old)
    file = (results / _HINTS).resolve()
    changed = applied.variables_of(plan, settings, str(file))
    variables = variables | changed
    forwarded = applied.buffered(settings, applied.forwarding(plan, changed))
    line = typed_line(variables, [word.replace(applied.FOLDER, str(folder)) for word in forwarded])
    if not tuned.is_better:
        print(f"Keep this line:\n  {line}")
        return
    if str(file) in variables.values():
        text = applied.hints_of(plan, settings)
        with replacing(file, _HINTS_FILE, force=True) as path:
            path.write_text(text, encoding="utf-8")
        print(f"Wrote {results / _HINTS}:")
        print("".join(f"  {each}\n" for each in text.splitlines()), end="")
    if striping := applied.striping_of(settings, str(folder)):
        print(f"For new files, set the striping of the folder once:\n  {shlex.join(striping)}")
    print(f"Use this line:\n  {line}")
