"""``culmen tune command --submit``: the whole tuning as a batch job, which measures on the nodes that it is for."""

from pathlib import Path

from ...base.exit_codes import FINISHED, RESUMABLE
from ...bench.jobs.asked import Cluster, Wanted
from ...bench.measuring import End
from ...tune.command.recipe import RecipeFile, read_recipe, with_use
from ...tune.command.results import HEADINGS, TEXTS
from ...tune.command.submitted import copy_results, result_in, task_for, with_file
from ...tune.command.tuner import PAGE_NAME, RESULT
from .submit import run_jobs
from .summary import print_table
from .tune_command import show_lines


def submit_command(
    file: Path,
    wanted: Wanted,
    words: list[str],
    output: Path | None,
    overwrite: bool,
    quiet: bool,
    use_hours: float | None,
    use_runs: int | None,
) -> int:
    """``words``: options of the command in the job. Returns an exit code. Raises InputError for a wrong file, and for
    what the cluster does not have."""
    recipe = with_use(read_recipe(file), use_hours, use_runs)
    cluster = Cluster.of(with_file(wanted, recipe))
    folder = output or Path(f"tune-{recipe.name}")

    def conclude(folders: list[Path], to: Path, end: End) -> int:
        return _conclude(recipe, folders[0], to, end, quiet)

    return run_jobs(task_for(recipe, file, words, folder, cluster, conclude), cluster, folder, overwrite, quiet)


def _conclude(recipe: RecipeFile, measured: Path, folder: Path, end: End, quiet: bool) -> int:
    found = result_in(measured, recipe)
    if found is None or end is not End.WHOLE:
        print("Not all runs are done; the same command continues.")
        return RESUMABLE
    print_table(HEADINGS, found["table"], TEXTS)
    for sentence in found["sentences"]:
        print(sentence)
    show_lines(found.get("lines", []))
    copy_results(measured, folder)
    if not quiet:
        print(f"Wrote {folder / RESULT} and {folder / PAGE_NAME}")
    return FINISHED
