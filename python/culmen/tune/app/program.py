"""Runs of the program: once for its profile, and in turns with and without the rules."""

import shlex
import socket
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from ..._core import InputError
from ...base.text import plural
from ...launch.launcher import stays_here
from ...launch.mpi import Launcher, LauncherError, find_launcher, with_library
from ...launch.mpi.collectives import Collectives
from ...launch.preloading import run_watched
from ...launch.watched import RunLateError, limit_for
from ...profile.recorded import Rank
from ...profile.running import run_profiled
from ..autotune.validated import Compared, Kind, take_turns
from ..cluster.results import TABLE
from ..rules.reader import environment_for
from .rounds import FILE, KeptRounds

_SHOWN = 3  # hosts in a sentence
_COMMAND, _DURATION, _PROFILES = "command", "duration_s", "*.profile"


def has_profile(words: list[str], folder: Path) -> bool:
    """Whether the folder has an earlier profile of this command. Raises InputError if the profile is of another
    command."""
    known, typed = folder / _COMMAND, _typed(words)
    if known.exists() and (other := known.read_text(encoding="utf-8", errors="replace")) != typed:
        raise InputError(
            f"{folder} is of another command: {other.strip()}; give another folder with --output, or write --overwrite"
        )
    return known.exists() and any(folder.glob(_PROFILES))


def make_profile(words: list[str], folder: Path, time_limit_s: float | None = None) -> None:
    """Runs the program. Raises InputError if it fails or takes too long, and RunStoppedError."""
    (folder / _COMMAND).unlink(missing_ok=True)  # a run that fails leaves a part of a profile
    for path in folder.glob(_PROFILES):
        path.unlink()
    begun = time.monotonic()
    try:
        code = run_profiled(words, folder, run=partial(run_watched, limit_s=time_limit_s))
    except RunLateError as late:
        raise InputError(f"{late}; nothing was tuned; --time-limit allows longer runs") from None
    if code != 0:
        raise InputError(f"the program ended with exit code {code}; nothing was tuned")
    (folder / _DURATION).write_text(f"{time.monotonic() - begun:.3f}\n", encoding="utf-8")
    (folder / _COMMAND).write_text(_typed(words), encoding="utf-8")


def _typed(words: list[str]) -> str:
    return shlex.join(words) + "\n"


def usual_limit_s(folder: Path) -> float:
    """The time limit of further runs, from the duration of the profiled run, whose profile is in this folder. The
    program can also take time outside MPI."""
    try:
        return limit_for(float((folder / _DURATION).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        raise InputError(
            f"{folder} has no duration of the run; write --overwrite to profile the program again"
        ) from None


def launcher_of(ranks: list[Rank]) -> Launcher:
    """The launcher of the MPI that the program uses. Raises InputError if there is none."""
    mpi = with_library(ranks[0].library)
    try:
        launcher = find_launcher(mpi.name if mpi else "openmpi")
    except LauncherError as error:
        raise InputError(str(error)) from None
    if launcher.mpi is not mpi:
        raise InputError(f"the program uses {ranks[0].library}, but {launcher.program} is {launcher.mpi.title}")
    return launcher


def check_machines(ranks: list[Rank], launcher: Launcher, environment: Mapping[str, str]) -> None:
    """Raises InputError if the program ran on other machines, but the launches of the tuner would stay on this one."""
    others = sorted({rank.host for rank in ranks} - {socket.gethostname()})
    if not others or not stays_here(environment):
        return
    shown = ", ".join(others[:_SHOWN]) + (", …" if len(others) > _SHOWN else "")
    raise InputError(
        f"the program ran on {shown}, but culmen would measure the collectives on this machine only. Name the hosts "
        f"in a file, and start culmen with the variable {launcher.mpi.host_file}=FILE, or start it in a job"
    )


def compare(
    words: list[str], rules: Path, known: Collectives, rounds: int, say: Callable[[str], None], limit_s: float
) -> tuple[float, float, bool]:
    """Runs the program with and without the rules. Rounds of an earlier start count, if the choices are the same.
    Returns what ``Compared.gain`` does. ``limit_s``: of a run. Raises what ``take_turns`` does."""
    found = Compared()
    kinds: list[Kind] = [
        ("with the rules", found.tuned_s, partial(run_watched, words, None, environment_for(known, rules))),
        ("without the rules", found.default_s, partial(run_watched, words, None, known.without_rules)),
    ]
    choices = (rules.parent / TABLE).read_text(encoding="utf-8")
    kept = KeptRounds(rules.parent / FILE, _typed(words) + choices)
    if before := kept.load(kinds):
        say(f"{plural(before, 'round')} of {rounds} {'is' if before == 1 else 'are'} done already")
    take_turns(kinds, rounds, say, limit_s, lambda: kept.save(kinds))
    return found.gain(found.tuned_s)
