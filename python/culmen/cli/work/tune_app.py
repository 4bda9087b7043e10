"""``culmen tune app``: tunes the collectives that matter for one program, and tries the result on the program."""

import shlex
from pathlib import Path

from ..._core import InputError
from ...base.exit_codes import FINISHED
from ...bench.kept import folder_for
from ...profile.recorded import Rank, read_folder
from ...tune.app.cells import MATTERS, cells_of, tuning_of
from ...tune.app.program import compare, has_profile, launcher_of, make_profile
from ...tune.cluster.asked import check_nodes
from ...tune.cluster.choices import changed_in
from ...tune.cluster.results import TABLE, install_sentence
from ...tune.rules.texts import check_reader
from ...tune.rules.tried import environment_for, reader_of_rules
from .tune_cluster import tune_cluster

_EXAMPLE = "example: culmen tune app -- mpiexec -n 4 ./app"
_FOLDER, _PROFILE = Path("tune-app"), "profile"


def tune_app(
    words: list[str],
    output: Path | None,
    rounds: int,
    seconds: float,
    allowed: tuple[bool, bool],
    overwrite: bool,
    quiet: bool,
) -> int:
    """``allowed``: see Collectives.safe_algorithms(). Returns an exit code. Raises InputError if the program fails."""
    if not words:
        raise InputError(f"a command after -- is missing; {_EXAMPLE}")
    folder = folder_for(output or _FOLDER)
    ranks = _profile(words, folder / _PROFILE, overwrite)
    launcher = launcher_of(ranks)
    known = reader_of_rules(launcher)
    check_nodes(known, launcher.mpi.title, len({rank.host for rank in ranks}))
    check_reader(launcher)
    cells = cells_of(ranks, known)
    if not cells:
        print(
            f"No collective that culmen can tune takes {MATTERS:.0%} of the run; there is nothing to tune. "
            f"`culmen profile report {folder / _PROFILE}` shows where the time goes."
        )
        return FINISHED
    for each in cells:
        print(f"{each.collective} with {each.ranks} ranks and about {each.least} bytes: {each.share:.1%} of the run")
    if code := tune_cluster(
        tuning_of(launcher, cells, seconds, allowed), folder, overwrite, quiet, None, None, installs=False
    ):
        return code
    rules = folder / known.rules_name
    if not changed_in(folder / TABLE):
        print("All points keep the default, so the program would be as fast as before.")
        return FINISHED
    say = (lambda _text: None) if quiet else (lambda text: print(f"culmen: {text}", flush=True))
    if _show(*compare(words, rules, known, rounds, say)):
        print("To use the rules for this program, set these variables in a shell or a job script:")
        for name, value in environment_for(known, rules).items():
            print(f"    export {name}={shlex.quote(value)}")
        print(install_sentence(launcher, folder))
    return FINISHED


def _profile(words: list[str], folder: Path, overwrite: bool) -> list[Rank]:
    """A former profile of the same folder is used again."""
    if not overwrite and has_profile(words, folder):
        print(f"The profile in {folder} is used again; to make a new one, write --overwrite")
    else:
        make_profile(words, folder)
    return read_folder(folder)


def _show(gain: float, half: float, is_clear: bool) -> bool:
    """See Compared.gain(). Returns whether the rules are worth using."""
    word = "faster" if gain > 0 else "slower"
    if is_clear:
        print(f"With the rules, the program is {100 * abs(gain):.1f}% ± {100 * half:.1f}% {word}.")
    else:
        print(f"The program is not clearly faster or slower with the rules: {100 * gain:.1f}% ± {100 * half:.1f}%.")
    if is_clear and gain > 0:
        return True
    print("Do not install them for this program.")
    return False
