"""``culmen tune app``: tunes the collectives that matter for one program, and tries the result on the program."""

import shlex
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ..._core import InputError
from ...base.exit_codes import FINISHED
from ...bench.collectives.plan import Plan
from ...bench.collectives.points import Protocol
from ...bench.kept import folder_for
from ...launch.mpi import Launcher, LauncherError, find_launcher, with_library
from ...launch.mpi.collectives import Collectives
from ...launch.preloading import run_preloaded
from ...profile.recorded import Rank, read_folder
from ...profile.running import run_profiled
from ...tune.autotune.validated import Compared, Kind, take_turns
from ...tune.cluster.asked import Tuning, check_nodes
from ...tune.cluster.choices import changed_in
from ...tune.cluster.results import TABLE
from ...tune.rules.made import can_hold
from ...tune.rules.texts import check_reader
from ...tune.rules.tried import environment_for, reader_of_rules
from .tune_cluster import tune_cluster

_EXAMPLE = "example: culmen tune app -- mpiexec -n 4 ./app"
_FOLDER, _PROFILE = Path("tune-app"), "profile"
_MATTERS, _MOST = 0.01, 12  # share of the run of a point that is tuned; number of such points


class Cell(NamedTuple):
    """Calls of one collective. ``size_class``: as in profiles. ``share``: of the time of all ranks."""

    collective: str
    ranks: int
    size_class: int
    least: int  # bytes of the shortest messages, as far as the profile knows
    share: float


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
    launcher = _launcher(ranks)
    known = reader_of_rules(launcher)
    check_nodes(known, launcher.mpi.title, len({rank.host for rank in ranks}))
    check_reader(launcher)
    cells = cells_of(ranks, known)
    if not cells:
        print(
            f"No collective that culmen can tune takes {_MATTERS:.0%} of the run; there is nothing to tune. "
            f"`culmen profile report {folder / _PROFILE}` shows where the time goes."
        )
        return FINISHED
    for each in cells:
        print(f"{each.collective} with {each.ranks} ranks and about {each.least} bytes: {each.share:.1%} of the run")
    if code := tune_cluster(_tuning(launcher, cells, seconds, allowed), folder, overwrite, quiet, None, None):
        return code
    rules = folder / known.rules_name
    if not changed_in(folder / TABLE):
        print("All points keep the default, so the program would be as fast as before.")
        return FINISHED
    compared = Compared()
    kinds: list[Kind] = [
        ("with the rules", compared.tuned_s, lambda: run_preloaded(words, None, environment_for(known, rules))),
        ("without the rules", compared.default_s, lambda: run_preloaded(words, None, known.without_rules)),
    ]
    take_turns(kinds, rounds, lambda text: print(f"culmen: {text}", flush=True))
    gain, half, is_clear = compared.gain(compared.tuned_s)
    if not is_clear:
        print(f"The program is not clearly faster or slower with the rules: {100 * gain:.1f}% ± {100 * half:.1f}%.")
        print("Do not install them for this program.")
        return FINISHED
    word = "faster" if gain > 0 else "slower"
    print(f"With the rules, the program is {100 * abs(gain):.1f}% ± {100 * half:.1f}% {word}.")
    if gain < 0:
        print("Do not install them for this program.")
    return FINISHED


def _profile(words: list[str], folder: Path, overwrite: bool) -> list[Rank]:
    """A former profile of the same folder is used again."""
    known, typed = folder / "command", shlex.join(words) + "\n"
    if not overwrite and known.exists() and known.read_text(encoding="utf-8") != typed:
        raise InputError(
            f"{folder} is of another command: {known.read_text(encoding='utf-8').strip()}; write --overwrite"
        )
    if not overwrite and known.exists() and list(folder.glob("*.profile")):
        print(f"The profile in {folder} is used again; to make a new one, write --overwrite")
        return read_folder(folder)
    for path in folder.glob("*.profile"):
        path.unlink()
    code = run_profiled(words, folder)
    if code != 0:
        raise InputError(f"the program ended with exit code {code}; nothing was tuned")
    known.write_text(typed, encoding="utf-8")
    return read_folder(folder)


def _launcher(ranks: list[Rank]) -> Launcher:
    """Of the MPI that the program uses."""
    mpi = with_library(ranks[0].library)
    try:
        launcher = find_launcher(mpi.name if mpi else "openmpi")
    except LauncherError as error:
        raise InputError(str(error)) from None
    if launcher.mpi is not mpi:
        raise InputError(f"the program uses {ranks[0].library}, but {launcher.program} is {launcher.mpi.title}")
    return launcher


def cells_of(ranks: list[Rank], known: Collectives) -> list[Cell]:
    """What is worth tuning, the most time first."""
    run_s = sum(rank.thread_s for rank in ranks)
    seconds: dict[tuple[str, int, int], float] = defaultdict(float)
    amounts: dict[tuple[str, int, int], list[int]] = defaultdict(lambda: [0, 0])
    for rank in ranks:
        for calls in rank.calls:
            name = calls.function.removeprefix("MPI_").lower()
            if name not in known.of or not can_hold(name, known) or calls.ranks < 2:
                continue
            key = name, calls.ranks, calls.size_class
            seconds[key] += calls.total_s
            amounts[key][0] += calls.calls
            amounts[key][1] += calls.bytes
    cells = [
        Cell(*key, amounts[key][1] // max(1, amounts[key][0]), total / run_s)
        for key, total in seconds.items()
        if run_s and total / run_s >= _MATTERS
    ]
    return sorted(cells, key=lambda cell: -cell.share)[:_MOST]


def _tuning(launcher: Launcher, cells: list[Cell], seconds: float, allowed: tuple[bool, bool]) -> Tuning:
    """Both ends of each size class: a rule then holds between them."""
    sizes = {size for cell in cells for size in sizes_of(cell)} or {0}
    wanted = Plan(
        launcher,
        launcher.mpi.name,
        tuple(dict.fromkeys(cell.collective for cell in cells)),
        tuple(sorted({cell.ranks for cell in cells})),
        tuple(sorted(sizes)),
        (),
        Protocol(0.1, seconds, 0, 60.0),
    )
    wanted.check()
    return replace(Tuning(wanted, *allowed), only=frozenset((cell.collective, cell.ranks) for cell in cells))


def sizes_of(cell: Cell) -> set[int]:
    """As ``culmen bench collectives`` counts them. Of some collectives, a profile counts what a rank has for all."""
    if cell.size_class == 0:  # a barrier, or calls that move nothing
        return set()
    of_all = cell.collective in ("alltoall", "reduce_scatter", "reduce_scatter_block")
    ends = (2 ** (cell.size_class - 1), 2**cell.size_class)
    return {max(8, end // cell.ranks // 8 * 8) if of_all else end for end in ends}
