"""``culmen tune cluster``: finds faster algorithms for the collectives of an MPI."""

from pathlib import Path

from ...base.exit_codes import RESUMABLE
from ...bench.held import folder_to_tune
from ...bench.jobs.asked import Cluster
from ...bench.measuring import End
from ...bench.study import outcomes_in
from ...tune.cluster import choices, page, variables_page
from ...tune.cluster.asked import Tuning, tuning_of
from ...tune.cluster.learnt import about_searches
from ...tune.cluster.measured import was_searched
from ...tune.cluster.results import STORE, how_to_install, sentences_of, tried_here, write_results
from ...tune.cluster.submitted import task_for
from ...tune.cluster.trial import Trial, as_tried, write_trial
from ...tune.cluster.tuner import measure, stores_in
from ...tune.cluster.variables_files import result_in, sentences
from .measuring import exit_code, nothing_measured, say_failures
from .stopped import continues
from .submit import run_jobs
from .summary import print_table

__all__ = ["submit_tuning", "tune_cluster", "tune_in", "tuning_of"]

FOLDER = Path("tune-cluster")


@continues
def tune_cluster(
    wanted: Tuning,
    output: Path | None,
    overwrite: bool,
    quiet: bool,
    scratch: Path | None,
    at_most: int | None,
) -> int:
    """Measures what is missing, writes the choices, and returns an exit code."""
    with folder_to_tune(output or FOLDER, stores_in) as folder:
        return tune_in(folder, wanted, overwrite, quiet, scratch, at_most)


def tune_in(
    folder: Path,
    wanted: Tuning,
    overwrite: bool,
    quiet: bool,
    scratch: Path | None,
    at_most: int | None,
    installs: bool = True,
) -> int:
    """The same in a folder that is held. ``installs``: says how to install the choices."""
    wanted, end = measure(wanted, folder, overwrite, quiet, scratch, at_most)
    return conclude(wanted, [folder], folder, end, quiet, installs=installs)


def submit_tuning(
    wanted: Tuning, cluster: Cluster, arguments: list[str], output: Path | None, overwrite: bool, quiet: bool
) -> int:
    """The same as a job of a scheduler. ``arguments``: of this command, without those of the job."""

    def conclude_job(folders: list[Path], to: Path, end: End) -> int:
        return conclude(wanted, folders, to, end, quiet, here=False)

    for sentence in wanted.left_out if not quiet else ():
        print(sentence)
    task = task_for(wanted, cluster, arguments, conclude_job)
    return run_jobs(task, cluster, output or FOLDER, overwrite, quiet)


def conclude(
    wanted: Tuning,
    measured: list[Path],
    folder: Path,
    end: End,
    quiet: bool,
    here: bool = True,
    installs: bool = True,
) -> int:
    """``measured``: the folder with the store and the samples. ``folder``: for the results. ``here``: this machine
    has measured, and can try them; otherwise the job has done so."""
    (place,) = measured
    found = result_in(place) if wanted.groups else None
    if found:
        wanted = wanted.with_variables(found)
    _, failures = outcomes_in(place / STORE)
    say_failures(failures, len(wanted.points()), "launches")
    there = [each for each in wanted.races() if was_searched(*each, place)]
    if not there:
        if here and end is End.WHOLE:
            write_trial(Trial(), folder)  # there is nothing to try
        return nothing_measured(end, "collective")
    if end is not End.WHOLE:
        return exit_code(end, bool(failures), "launches")
    tuned = choices.tuned_from(there, place, wanted.places(), wanted.whole)
    tuned, trial = tried_here(wanted, tuned, folder) if here else as_tried(tuned, place)
    if not trial.whole:
        print("culmen: the new tuning file was not tried, so it is not written; the same command lets a job try it")
        return RESUMABLE
    rules = write_results(wanted, tuned, place, folder, found)
    if not quiet and found:
        print_table(variables_page.HEADINGS, variables_page.rows_of(found), variables_page.TEXTS)
    if not quiet:
        print_table(page.HEADINGS, page.rows_of(tuned.choices), page.TEXTS)
    searches = about_searches(there, place) if wanted.online else []
    said = [*(sentences(found) if found else []), *searches, *sentences_of(wanted, tuned, rules, folder, trial)]
    if installs:
        said.append(how_to_install(wanted, tuned, folder, trial))
    for sentence in said if not quiet else ():
        print(sentence)
    return exit_code(end, bool(failures), "launches")
