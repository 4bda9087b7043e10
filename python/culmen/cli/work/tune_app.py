"""``culmen tune app``: tunes the collectives that matter for one program, and tries the result on the program."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from ..._core import InputError
from ...base.exit_codes import FINISHED
from ...base.text import plural
from ...bench.held import folder_to_tune
from ...launch.mpi import Launcher
from ...launch.mpi.collectives import Collectives
from ...profile.recorded import Rank, read_folder
from ...profile.worlds import worlds_of
from ...tune.app.cells import MATTERS, Cell, cells_of, remark_on_room, remarks_without_rules
from ...tune.app.program import check_machines, compare, has_profile, launcher_of, make_profile, usual_limit_s
from ...tune.app.rounds import FILE as ROUNDS
from ...tune.app.surrogate import HEADINGS, TEXTS, rows_of, tunable, tuning_of
from ...tune.app.unlike import remarks_on_times
from ...tune.cluster.asked import Tuning
from ...tune.cluster.choices import changed_in
from ...tune.cluster.results import TABLE, install_sentence
from ...tune.cluster.tuner import stores_in
from ...tune.rules.reader import environment_for, reader_of_rules
from ...tune.rules.texts import check_reader
from .stopped import continues
from .summary import print_table
from .tune_cluster import tune_in

_EXAMPLE = "example: culmen tune app -- mpiexec -n 4 ./app"
_FOLDER, PROFILE = Path("tune-app"), "profile"


@dataclass(frozen=True)
class Program:
    """A program that was profiled. ``cells``: the collectives that matter."""

    ranks: list[Rank]
    launcher: Launcher
    known: Collectives
    cells: list[Cell]

    @classmethod
    def profiled(
        cls, words: list[str], folder: Path, overwrite: bool, time_limit_s: float | None, apart: bool = False
    ) -> "Program":
        """``folder``: of the results. ``apart``: see ``cells_of``. Raises InputError if the program fails, or if its
        MPI reads no rules, and RunStoppedError."""
        if not words:
            raise InputError(f"a command after -- is missing; {_EXAMPLE}")
        ranks = _profile(words, folder / PROFILE, overwrite, time_limit_s)
        launcher = launcher_of(ranks)
        known = reader_of_rules(launcher)
        check_reader(launcher)
        for remark in (remark_on_room(ranks, known), *remarks_without_rules(ranks, known)):
            if remark:
                print(remark)
        return cls(ranks, launcher, known, cells_of(ranks, known, apart))


@continues
def tune_app(
    words: list[str],
    output: Path | None,
    rounds: int,
    seconds: float,
    allowed: tuple[bool, bool],
    time_limit_s: float | None,
    scratch: Path | None,
    overwrite: bool,
    quiet: bool,
) -> int:
    """``allowed``: see Collectives.safe_algorithms(). ``time_limit_s``: of each run of the program; None: from its
    first run. Returns an exit code. Raises InputError if the program fails."""
    with folder_to_tune(output or _FOLDER, stores_in) as folder:
        return _tune(words, folder, rounds, seconds, allowed, time_limit_s, scratch, overwrite, quiet)


def _tune(
    words: list[str],
    folder: Path,
    rounds: int,
    seconds: float,
    allowed: tuple[bool, bool],
    time_limit_s: float | None,
    scratch: Path | None,
    overwrite: bool,
    quiet: bool,
) -> int:
    if overwrite:
        (folder / ROUNDS).unlink(missing_ok=True)
    program = Program.profiled(words, folder, overwrite, time_limit_s, apart=True)
    if not program.cells:
        return nothing_to_tune(program, folder)
    wanted = _wanted(program, seconds, allowed)
    if code := tune_in(folder, wanted, overwrite, quiet, scratch, None, installs=False):
        return code
    rules = folder / program.known.rules_name
    for remark in remarks_on_times(program.cells, folder / TABLE) if not quiet else ():
        print(remark)
    changed, points = changed_in(folder / TABLE)
    if not changed:
        print("All points keep the default, so there are no rules to try with the program.")
        return FINISHED
    say = (lambda _text: None) if quiet else (lambda text: print(f"culmen: {text}", flush=True))
    limit_s = time_limit_s or usual_limit_s(folder / PROFILE)
    if show_verdict(*compare(words, rules, program.known, rounds, say, limit_s), changed, points):
        show_use(program, rules)
    return FINISHED


def _wanted(program: Program, seconds: float, allowed: tuple[bool, bool]) -> Tuning:
    """Shows the list of the cells, and says which of them are tuned. ``seconds``, ``allowed``: see ``tuning_of``."""
    launcher = program.launcher
    check_machines(program.ranks, launcher, os.environ)
    print_table(HEADINGS, rows_of(program.cells), TEXTS)
    cells, said = tunable(program.cells)
    for sentence in said:
        print(sentence)
    return tuning_of(launcher, cells, program.ranks, seconds, allowed)


def nothing_to_tune(program: Program, folder: Path) -> int:
    """Says so. ``folder``: of the results."""
    other = "other " if remark_on_room(program.ranks, program.known) else ""
    print(
        f"No {other}collective that culmen can tune takes {MATTERS:.0%} of the run; there is nothing to tune. "
        f"`culmen profile report {folder / PROFILE}` shows where the time goes."
    )
    return FINISHED


def show_use(program: Program, rules: Path) -> None:
    """How to use the rules."""
    print("To use the rules for this program, set these variables in a shell or a job script:")
    for name, value in environment_for(program.known, rules).items():
        print(f"    export {name}={shlex.quote(value)}")
    print(install_sentence(program.launcher, rules.parent))


def _profile(words: list[str], folder: Path, overwrite: bool, time_limit_s: float | None) -> list[Rank]:
    """A former profile of the same folder is used again."""
    if not overwrite and has_profile(words, folder):
        print(f"The profile in {folder} is used again; to make a new one, write --overwrite")
    else:
        make_profile(words, folder, time_limit_s)
    return worlds_of(read_folder(folder)).ranks


def show_verdict(gain: float, half: float, is_clear: bool, changed: int, points: int) -> bool:
    """See Compared.gain(). ``changed``: how many of the points do not keep the default. Returns whether the rules are
    worth using."""
    kept = f"{points - changed} of {plural(points, 'point')} {'keeps' if points == 1 else 'keep'} the default"
    word, shown = "faster" if gain > 0 else "slower", f"± {100 * half:.1f}%"
    if is_clear:
        print(f"With the rules, the program is {100 * abs(gain):.1f}% {shown} {word}; {kept}.")
    else:
        print(f"The program is not clearly faster or slower with the rules: {100 * gain:.1f}% {shown}; {kept}.")
    if is_clear and gain > 0:
        return True
    print("Do not install them for this program.")
    return False
