"""``culmen tune cluster``: finds faster algorithms for the collectives of an MPI."""

from dataclasses import replace
from pathlib import Path

from ..._core import InputError
from ...bench.conversation import LostError
from ...bench.kept import StoppedError, folder_for
from ...bench.measuring import End, begin_launches, measure_in
from ...bench.session import Session
from ...bench.study import PointStudy
from ...tune.cluster import trial as trials
from ...tune.cluster.asked import Tuning, tuning_of
from ...tune.cluster.installed import check_no_variables
from ...tune.cluster.origin import check_origin
from ...tune.cluster.variable_tuner import VariableTuner, remove_results
from ...tune.cluster.variables_files import result_in
from ...tune.rules.tried import reader_of_rules
from .measuring import exit_code
from .submit import Cluster, Task, run_jobs
from .tune_cluster_results import STORE, conclude

__all__ = ["submit_tuning", "tune_cluster", "tuning_of"]

FOLDER = Path("tune-cluster")
_START_S = 120.0


def tune_cluster(
    wanted: Tuning, output: Path | None, overwrite: bool, quiet: bool, scratch: Path | None, at_most: int | None
) -> int:
    """Measures what is missing, writes the choices, and returns an exit code."""
    folder = folder_for(output or FOLDER)
    if wanted.groups and at_most is not None:
        raise InputError("--variables: all launches depend on each other; leave out --at-most")
    _begin_in(folder, wanted, overwrite)
    if overwrite or not wanted.groups:
        remove_results(folder)
    if wanted.groups:
        check_no_variables(wanted.plan.launcher)
        try:
            with VariableTuner(wanted.of_variables(), folder, quiet, scratch) as tuner:
                wanted = wanted.with_variables(tuner.tune())
        except StoppedError:
            return exit_code(End.STOPPED, False, "launches")
    end = measure_in(
        folder,
        STORE,
        lambda store: _study(wanted, store),
        len(wanted.points()),
        "launches",
        lambda done: begin_launches(
            wanted.plan.launcher.mpi.title,
            len(wanted.points()),
            done,
            replace(wanted, groups=()).most_s(),
            max(wanted.plan.ranks),
            quiet,
            "at most about",
        ),
        overwrite,
        quiet,
        scratch,
        at_most,
    )
    return conclude(wanted, [folder], folder, end, quiet)


def _begin_in(folder: Path, wanted: Tuning, overwrite: bool) -> None:
    """Starts two ranks, which know the version of the MPI."""
    launcher, store = wanted.plan.launcher, folder / STORE
    without = reader_of_rules(launcher).without_rules
    try:
        with Session(launcher, 2, wanted.plan.protocol.timeout_s, without) as session:
            version = session.version
    except LostError as error:
        raise InputError(f"two ranks of {launcher.mpi.title} cannot be started here: {error}") from None
    check_origin(folder, version, store.exists() and not overwrite)
    (folder / trials.FILE).unlink(missing_ok=True)  # it is of an earlier tuning file


def submit_tuning(
    wanted: Tuning, cluster: Cluster, arguments: list[str], output: Path | None, overwrite: bool, quiet: bool
) -> int:
    """The same as a job of a scheduler. ``arguments``: of this command, without those of the job."""
    if wanted.groups and cluster.wanted.pilot is not None:
        raise InputError("--variables: all launches depend on each other; leave out --pilot")
    if len(cluster.partitions) > 1:
        raise InputError("one tuning file cannot be for several partitions; give one --partition")
    task = Task(
        "tuning",
        ["tune", "cluster", *arguments, "--ranks", ",".join(map(str, wanted.plan.ranks))],
        max(wanted.plan.ranks),
        STORE,
        "launches",
        len(wanted.points()),
        wanted.most_s(),
        lambda store: _study(wanted.with_variables(result_in(store.parent)), store).missing(),
        lambda folders, to, end: conclude(wanted, folders, to, end, quiet, here=False),
        is_complete=lambda job: (job / trials.FILE).exists(),
    )
    return run_jobs(task, cluster, output or FOLDER, overwrite, quiet)


def _study(wanted: Tuning, store: Path) -> PointStudy:
    limit_s = _START_S + wanted.most_s() * 10 + wanted.plan.protocol.timeout_s
    evaluator = "culmen.tune.cluster.measured:measure"
    return PointStudy("culmen tune cluster", wanted.points(), wanted.fixed(), evaluator, limit_s, store)
