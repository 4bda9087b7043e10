"""``--submit`` of commands that tune: the whole tuning as a batch job, which measures on the nodes that it is for."""

from pathlib import Path
from typing import Any

from ..._core import InputError
from ...base.again import same_command
from ...base.exit_codes import FINISHED, RESUMABLE
from ...bench.jobs.asked import Cluster, Wanted
from ...bench.measuring import End
from ...tune.command.line import Wanted as Line
from ...tune.command.recipe import check_energy_of_job, read_recipe, with_use
from ...tune.command.results import HEADINGS, TEXTS
from ...tune.command.submitted import (
    check_partitions,
    copy_results,
    result_in,
    result_of,
    task_for,
    task_for_line,
    typed_words,
    with_file,
)
from ...tune.command.tuner import PAGE_NAME, RESULT
from ...tune.hpl import submitted as hpl
from ...tune.hpl.checked import check_options
from ...tune.hpl.options import Options
from .submit import run_jobs
from .summary import print_table
from .tune_command import show_lines
from .tune_hpl import FOLDER

__all__ = ["submit_command", "submit_hpl", "submit_line", "typed_words"]


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
    recipe = with_use(read_recipe(file, here=False), use_hours, use_runs)
    wanted = with_file(wanted, recipe)
    check_energy_of_job(recipe, file, wanted.nodes or 1)
    cluster, folder = Cluster.of(wanted), output or Path(f"tune-{recipe.name}")

    def conclude(folders: list[Path], to: Path, end: End) -> int:
        return _show(result_in(folders[0], recipe), folders[0], to, end, quiet)

    return run_jobs(task_for(recipe, file, words, folder, cluster, conclude), cluster, folder, overwrite, quiet)


def submit_line(
    name: str,
    line: Line,
    job: Wanted,
    words: list[str],
    after: list[str],
    output: Path | None,
    overwrite: bool,
    quiet: bool,
) -> int:
    """``culmen tune placement`` or ``culmen tune io``. ``words``: options of the command in the job. ``after``: the
    words after ``--``. Returns an exit code. Raises InputError for what the cluster does not have."""
    cluster, folder = Cluster.of(job), output or Path(f"tune-{name}")

    def conclude(folders: list[Path], to: Path, end: End) -> int:
        found = result_of(folders[0], typed_words(name, words, after))
        return _show(found, folders[0], to, end, quiet)

    task = task_for_line(name, line, words, after, folder, cluster, conclude)
    return run_jobs(task, cluster, folder, overwrite, quiet)


def submit_hpl(
    options: Options, job: Wanted, words: list[str], output: Path | None, overwrite: bool, quiet: bool
) -> int:
    """``words``: as for submit_line. Returns an exit code. Raises InputError for what the cluster does not have."""
    if options.verify and job.time is None:
        raise InputError("--verify needs --time: before the first runs, culmen cannot know how long its runs take")
    cluster, folder = Cluster.of(job), output or FOLDER
    check_partitions(cluster)
    check_options(options, cluster.most_cpus(), folder / cluster.partitions[0].name)

    def conclude(folders: list[Path], to: Path, end: End) -> int:
        found = result_of(folders[0], typed_words(hpl.NAME, words, [*options.words]))
        return _show(found, folders[0], to, end, quiet)

    return run_jobs(hpl.task_for(options, words, cluster, conclude), cluster, folder, overwrite, quiet)


def _show(found: dict[str, Any] | None, measured: Path, folder: Path, end: End, quiet: bool) -> int:
    """``found``: the result of the job; None: it is not there yet."""
    if found is None or end is not End.WHOLE:
        print(f"Not all runs are done; {same_command()} continues.")
        return RESUMABLE
    for table in found.get("tables", [(HEADINGS, found.get("table"), TEXTS)]):
        print_table(*table)
    for sentence in [*found["sentences"], *found.get("ending", [])]:
        print(sentence)
    show_lines(found.get("lines", []))
    copy_results(measured, folder)
    if not quiet:
        print(f"Wrote {folder / RESULT} and {folder / PAGE_NAME}")
    return FINISHED
