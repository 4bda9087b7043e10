"""The measurements of a tuning: the variables, then a race and comparisons for each collective."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from ..._core import InputError
from ...base.text import plural
from ...bench.conversation import LostError
from ...bench.measuring import End, begin_launches, measure_in
from ...bench.session import Ranks
from ...bench.study import PointStudy, later_rounds
from ..rules.reader import reader_of_rules
from . import in_force, variable_tuner
from . import trial as trials
from .asked import Tuning
from .installed import check_no_variables
from .origin import check_origin
from .results import STORE

_START_S = 120.0


def measure(
    wanted: Tuning, folder: Path, overwrite: bool, quiet: bool, scratch: Path | None, at_most: int | None
) -> tuple[Tuning, End]:
    """Makes the missing measurements. Returns the request, with the best variables. Raises StoppedError if a signal
    came before all variables were tuned; the same command then continues."""
    if wanted.groups and at_most is not None:
        raise InputError("--variables: all launches depend on each other; leave out --at-most")
    _begin_in(folder, wanted, overwrite)
    fixed = in_force.sentences(wanted.plan.launcher, wanted.plan.collectives)
    for sentence in [*wanted.left_out, *fixed] if not quiet else ():
        print(sentence)
    if overwrite or not wanted.groups:
        variable_tuner.remove_results(folder)
    with ExitStack() as limits:  # the algorithms are measured with raised limits, too
        if wanted.groups:
            check_no_variables(wanted.plan.launcher)
            with variable_tuner.VariableTuner(wanted.of_variables(), folder, quiet, scratch, limits) as tuner:
                wanted = wanted.with_variables(tuner.tune())
        return wanted, _measure_collectives(wanted, folder, overwrite, quiet, scratch, at_most)


def stores_in(folder: Path) -> list[Path]:
    """All stores of a tuning. The first one may not exist."""
    store = folder / STORE
    return [store, *later_rounds(store), *variable_tuner.stores_in(folder)]


def _measure_collectives(
    wanted: Tuning, folder: Path, overwrite: bool, quiet: bool, scratch: Path | None, at_most: int | None
) -> End:
    title, launches = wanted.plan.launcher.mpi.title, len(wanted.points())
    most_s, ranks = replace(wanted, groups=()).most_s(), wanted.most_ranks()
    return measure_in(
        folder,
        STORE,
        lambda store: study_of(wanted, store),
        launches,
        "launches",
        lambda done: begin_launches(title, launches, done, most_s, ranks, quiet, "at most about"),
        overwrite,
        quiet,
        scratch,
        at_most,
    )


def _begin_in(folder: Path, wanted: Tuning, overwrite: bool) -> None:
    """Checks that the origin of the measurements is the same. Starts two ranks, or the largest layout, to learn the
    version of the MPI. Checks that communicators are on the right nodes."""
    launcher, store = wanted.plan.launcher, folder / STORE
    without = reader_of_rules(launcher).without_rules
    largest, splits = max(wanted.plan.layouts, default=None), wanted.splits()
    alike = largest or (splits[0] if splits else None)
    ranks, mapping = (alike.ranks, alike.mapping) if alike else (2, "")
    try:
        with Ranks(launcher, ranks, wanted.plan.protocol.timeout_s, mapping, without, *splits[:1]) as started:
            version = started.session.version
            for split in splits[1:]:
                started.session.split(split.groups)
                split.check(started.session.nodes())
    except LostError as error:
        what = largest or plural(ranks, "rank")
        raise InputError(f"{what} of {launcher.mpi.title} cannot be started here: {error}") from None
    check_origin(folder, version, store.exists() and not overwrite)
    (folder / trials.FILE).unlink(missing_ok=True)  # it belongs to an earlier tuning file


def study_of(wanted: Tuning, store: Path) -> PointStudy:
    limit_s = _START_S + wanted.most_s() * 10 + wanted.plan.protocol.timeout_s
    evaluator = f"culmen.tune.cluster.{'learning' if wanted.online else 'measured'}:measure"
    return PointStudy("culmen tune cluster", wanted.points(), wanted.fixed(), evaluator, limit_s, store)
