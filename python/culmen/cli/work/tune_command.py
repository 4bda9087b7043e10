"""``culmen tune command``."""

from collections.abc import Callable
from pathlib import Path

from ...base.exit_codes import FINISHED
from ...bench.held import folder_to_tune
from ...problem.given import Value
from ...tune.command.preview import preview
from ...tune.command.recipe import read_recipe, with_use
from ...tune.command.results import HEADINGS, TEXTS, Tuned, rows_of, sentences
from ...tune.command.tuner import (
    NOTHING_NEW,
    PAGE_NAME,
    RESULT,
    TUNED,
    Tuner,
    check_study,
    remove_results,
    spent_s,
    stores_in,
    tuned_of,
)
from .stopped import continues
from .summary import print_table

Checked = Callable[[dict[str, Value]], dict[str, Value]]


@continues
def tune_command(
    file: Path,
    output: Path | None,
    overwrite: bool,
    quiet: bool,
    use_hours: float | None,
    use_runs: int | None,
    scratch: Path | None = None,
) -> int:
    """Returns an exit code. Raises InputError if the file is wrong, or if the program fails as it is."""
    recipe = with_use(read_recipe(file), use_hours, use_runs)
    with folder_to_tune(output or Path(f"tune-{recipe.name}"), stores_in) as folder:
        tune(Tuner(recipe, file, folder, quiet, scratch=scratch), overwrite)
    return FINISHED


def show_plan(file: Path, output: Path | None, use_hours: float | None, use_runs: int | None) -> int:
    """``--dry-run``: runs nothing, and makes no folder. Raises InputError if the file is wrong."""
    recipe = with_use(read_recipe(file), use_hours, use_runs)
    folder = (output or Path(f"tune-{recipe.name}")).resolve()
    check_study(recipe, file, folder)
    for line in preview(recipe, file, folder / TUNED):
        print(line)
    return FINISHED


def tune(tuner: Tuner, overwrite: bool, checked: Checked = lambda new: new) -> Tuned:
    """Searches, compares, and shows the result. ``checked``: the settings to compare, from the best ones of the
    search. Raises InputError if the program fails, and StoppedError."""
    if overwrite:
        remove_results(tuner.folder)
    with tuner:
        return _tune(tuner, checked)


def show_lines(lines: list[str]) -> None:
    """How to use the recommended settings; nothing if there are no lines."""
    if lines:
        print("Use this line:" if len(lines) == 1 else "Use these lines:")
    for line in lines:
        print(f"  {line}")


def _tune(tuner: Tuner, checked: Checked) -> Tuned:
    before_s = spent_s(tuner.stores())
    new = checked(tuner.search())
    simpler = None if new == tuner.present else tuner.simpler(new)
    compared = None if new == tuner.present else tuner.compare(new, simpler)
    if simpler is not None and compared is not None and compared.kept is not None and compared.kept.as_good:
        new = simpler.settings
    tuned = tuned_of(tuner, new, compared)
    if spent_s(tuner.stores()) == before_s:
        print(NOTHING_NEW)
    lines, ending = tuner.write(tuned)
    print_table(HEADINGS, rows_of(tuned), TEXTS)
    for sentence in sentences(tuned):
        print(sentence)
    show_lines(lines)
    tuner.say(f"Wrote {tuner.folder / RESULT} and {tuner.folder / PAGE_NAME}")
    for line in ending:
        print(line)
    return tuned
