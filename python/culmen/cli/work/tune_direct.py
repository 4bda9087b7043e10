"""``culmen tune app --direct``: tunes the collectives that matter for one program by runs of this program."""

from pathlib import Path
from typing import Any

from ...base.exit_codes import FINISHED
from ...bench.held import folder_to_tune
from ...launch.launcher import cores
from ...report.reading import read
from ...tune.app import ruled
from ...tune.app.choosing import best_of, choices_of, left_out, parameters_of, runs_for, starts_of
from ...tune.app.direct import about_rules, as_they_run, plan_of, write_rules
from ...tune.app.writing import Choice
from ...tune.command.line import Wanted, recipe_for, write_plan
from ...tune.command.results import Tuned
from ...tune.command.tuner import SEARCH, Tuner, stores_in
from ...tune.rules.composed import remove_both
from .stopped import continues
from .tune_app import Program, nothing_to_tune, show_use
from .tune_command import tune

__all__ = ["Wanted", "tune_direct"]

_NAME, _FOLDER = "app", Path("tune-direct")


@continues
def tune_direct(
    words: list[str],
    output: Path | None,
    wanted: Wanted,
    allowed: tuple[bool, bool],
    scratch: Path | None,
    overwrite: bool,
    quiet: bool,
) -> int:
    """``allowed``: see Collectives.safe_algorithms(). Returns an exit code. Raises InputError if the program fails."""
    with folder_to_tune(output or _FOLDER, stores_in) as folder:
        return _tune(words, folder, wanted, allowed, scratch, overwrite, quiet)


def _tune(
    words: list[str],
    folder: Path,
    wanted: Wanted,
    allowed: tuple[bool, bool],
    scratch: Path | None,
    overwrite: bool,
    quiet: bool,
) -> int:
    program = Program.profiled(words, folder, overwrite, wanted.time_limit_s)
    choices = choices_of(program.cells, program.known, allowed)
    if not choices:
        return nothing_to_tune(program, folder)
    for each in choices:
        print(f"{each}: {each.share:.1%} of the run, {len(each.algorithms)} algorithms")
    plan = write_plan(folder, plan_of(words, choices, program.launcher, Path.cwd()), overwrite)
    space, starts = parameters_of(choices), starts_of(choices)
    recipe = recipe_for(_NAME, wanted, space, {}, runs_for(choices), ruled.__file__, plan, cores(), starts)
    tuner = Tuner(recipe, plan, folder, quiet, limits=True, scratch=scratch)
    tuner.more_runs = "a larger --minutes helps"
    tuned = tune(tuner, overwrite, lambda _best_run: _chosen(choices, program, tuner))
    return _conclude(tuned, choices, program, folder)


def _chosen(choices: list[Choice], program: Program, tuner: Tuner) -> dict[str, Any]:
    """From all runs of the search. Says which algorithms are left out, and why."""
    found = read(tuner.store(SEARCH))
    for sentence in left_out(choices, found):
        print(sentence)
    best = best_of(choices, found, tuner.maximize)
    new, said = as_they_run(choices, best, program.launcher, tuner.folder / f".trial.{program.known.rules_name}")
    for sentence in said:
        print(sentence)
    return new


def _conclude(tuned: Tuned, choices: list[Choice], program: Program, folder: Path) -> int:
    rules = folder / program.known.rules_name
    remove_both(rules, program.known)  # of an earlier tuning
    if not tuned.is_better:
        print("Without the rules, the program uses the MPI's own choices; there is nothing to install.")
        return FINISHED
    write_rules(choices, tuned.new, program.launcher, about_rules(program.ranks[0].library), rules)
    print(f"Wrote {rules}")
    show_use(program, rules)
    return FINISHED
