"""``culmen tune hpl``: searches the settings of HPL, and compares the best ones with the present ones."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from ...base.exit_codes import FINISHED
from ...base.text import lasted, shown
from ...bench.held import folder_to_tune
from ...tune.command.tuner import NOTHING_NEW, spent_s
from ...tune.command.worth import Use
from ...tune.hpl.asked import Asked
from ...tune.hpl.compared import compare
from ...tune.hpl.first import first
from ...tune.hpl.options import Options
from ...tune.hpl.plan import Known
from ...tune.hpl.preview import preview
from ...tune.hpl.report import PRESENT
from ...tune.hpl.runs import SECOND, Runs, stores_in
from ...tune.hpl.scaling import bytes_for
from ...tune.hpl.search import best_of, random_search, search
from .stopped import continues
from .tune_hpl_results import Outcome, with_verified, write_and_show

__all__ = ["Options", "Use", "tune_hpl"]

FOLDER = Path("tune-hpl")


@continues
def tune_hpl(
    options: Options, output: Path | None, overwrite: bool, quiet: bool, scratch: Path | None = None,
    typed: Sequence[str] = (),
) -> int:  # fmt: skip
    """``scratch``: see KeptStore. ``typed``: the command, for the result. Returns an exit code. Raises InputError if an
    option is wrong, or if HPL fails with the present settings."""
    with folder_to_tune(output or FOLDER, stores_in) as folder:  # at the end, the folders of all runs are removed
        asked = Asked(options, folder, (lambda _: None) if quiet else _say)
        with Runs(asked.how(folder), folder, quiet, scratch) as runs:
            return _tune(asked, runs, overwrite, [*typed])


def show_plan(options: Options, output: Path | None) -> int:
    """``--dry-run``: builds and runs nothing, and makes no folder. Raises InputError if an option is wrong."""
    asked = Asked(options, output or FOLDER, _say, builds=False)
    _introduce(asked, _say)
    for line in preview(asked):
        print(line)
    return FINISHED


def _tune(asked: Asked, runs: Runs, overwrite: bool, typed: list[str]) -> int:
    if overwrite:
        runs.begin_again()
    before_s = spent_s(runs.stores())
    try:
        _introduce(asked, runs.say)
        known = first(asked, runs)
        _explain(asked, runs, known)
        finalists, ended = search(asked, runs, known)
        new, curve = best_of(finalists, asked, runs, known)
        by_chance = random_search(asked, runs, known) if asked.options.compare_random else None
        compared = compare(new, by_chance, asked, runs, known)
        outcome = Outcome(asked, runs, known, new, curve, compared, ended)
        if asked.options.verify:
            outcome = with_verified(outcome)
    finally:
        runs.remove_folders()
    if spent_s(runs.stores()) == before_s:
        print(NOTHING_NEW)
    write_and_show(outcome, typed)
    return FINISHED


def _say(text: str) -> None:
    print(text, flush=True)


def _introduce(asked: Asked, say: Callable[[str], None]) -> None:
    program, present = asked.program, asked.cases[PRESENT]
    libraries = ", ".join(program.blas) or program.present_blas
    mpis = ", ".join(dict.fromkeys(each.launcher.mpi.title for each in asked.programs.by_choice.values()))
    say(f"{program.path} with {mpis} on {asked.cores} cores; BLAS: {libraries}")
    say(f"Present settings: NB = {present['nb']}, P x Q = {present['grid']}, … {asked.baseline.source}")


def _explain(asked: Asked, runs: Runs, known: Known) -> None:
    plan = known.plan
    if slow := [str(each["blas"]) for each, _, _ in known.tried if each["blas"] not in known.fast_blas]:
        runs.say(f"Too slow for the search: {', '.join(slow)}")
    runs.say(
        f"Search with N = {plan.search_n} for {lasted(plan.search_s)}, check of the best with N = {plan.check_n}, "
        f"comparison with N = {plan.final_n}: about {shown(asked.options.minutes)} min in all"
    )
    left = asked.available - bytes_for(plan.memory_n)
    runs.say(
        f"For the whole machine, N = {plan.memory_n} fits into {bytes_for(plan.memory_n) / 2**30:.3g} GiB of memory; "
        f"{left / 2**30:.3g} GiB remain for the system, the MPI and the BLAS"
    )
    other = runs.other_memory(SECOND)
    if not math.isnan(other):
        runs.say(f"In the first runs, the MPI, the BLAS and HPL used up to {other / 2**20:.0f} MiB besides the matrix")
