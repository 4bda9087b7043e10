"""The common steps of measurements: the missing points of a study, in a folder with results."""

from collections.abc import Callable
from enum import Enum, auto
from pathlib import Path

from .._core import Progress
from ..base.exit_codes import RESUMABLE
from ..base.text import lasted
from ..launch.allocation import ranks_on_a_node
from ..launch.launcher import cores
from ..run.progress.figures import Words
from ..run.progress.monitor import Monitor, make_monitor, with_fields
from .kept import KeptStore, remove_rounds
from .parts import for_evaluators
from .study import PointStudy


class End(Enum):
    """How a measurement ended. WHOLE: all points are measured. ENOUGH: it has measured as many points as --at-most
    allows. STOPPED: a signal stopped it."""

    WHOLE = auto()
    ENOUGH = auto()
    STOPPED = auto()


def run_missing(
    study: PointStudy,
    points: int,
    store: Path,
    what: str,
    begin: Callable[[int], Monitor],
    quiet: bool,
    at_most: int | None = None,
    check: Callable[[int], None] = lambda _done: None,
) -> End:
    """Measures the missing points of the last round of a study, at most ``at_most`` of them. ``points``, ``store``:
    those of the first round. ``what``: the kind of the points. ``begin`` and ``check`` get the number of points that
    were measured before; ``check`` may raise InputError."""
    done, count = study.open(), len(study.points)
    if done == count:
        if not quiet:
            say_complete(points, what, store)
        return End.WHOLE
    before, limit = points - count + done, count if at_most is None else min(count, done + at_most)
    check(before)
    if not study.run(lambda: _Whole(begin(before), points - count), RESUMABLE, limit):
        return End.STOPPED
    return End.WHOLE if limit == count else End.ENOUGH


class _Whole:
    """A monitor that also counts the points of the earlier rounds."""

    def __init__(self, monitor: Monitor, before: int) -> None:
        self._monitor, self._before, self.slice_s = monitor, before, monitor.slice_s

    def update(self, progress: Progress) -> None:
        evaluations, budget = self._before + progress.evaluations, self._before + progress.budget
        self._monitor.update(with_fields(progress, evaluations=evaluations, budget=budget))

    def close(self) -> None:
        self._monitor.close()


def say_complete(points: int, what: str, store: Path) -> None:
    print(f"All {points} {what} are in {store}; to measure again, write --overwrite")


def measure_in(
    folder: Path,
    name: str,
    study_of: Callable[[Path], PointStudy],
    points: int,
    what: str,
    begin: Callable[[int], Monitor],
    overwrite: bool,
    quiet: bool,
    scratch: Path | None,
    at_most: int | None,
    check: Callable[[int], None] = lambda _done: None,
) -> End:
    """``run_missing`` for the points of a store in this folder, or for the failed ones. Evaluators write samples into
    the folder. ``study_of`` gets the store. ``begin`` gets the number of points that were measured before. So does
    ``check``, before a launch; it may raise InputError. ``scratch``: see KeptStore."""
    store = folder / name
    if overwrite:
        remove_rounds(store)
    last = study_of(store).last_round()
    with KeptStore(last.store, scratch) as kept:
        for_evaluators(folder)
        study = last.in_store(kept.place)
        return run_missing(
            study, points, store, what, lambda before: kept.watching(begin(before)), quiet, at_most, check
        )


def begin_launches(
    title: str, launches: int, done: int, most_s: float, ranks: int, quiet: bool, about: str = "about"
) -> Monitor:
    """Prints how long the launches take. ``done``: the number of launches before. ``most_s``: the longest time of all
    launches together. ``ranks``: the largest number of ranks of a launch. ``about``: the word before the time."""
    if not quiet:
        before = f", {done} of them before" if done else ""
        left = lasted(most_s * (launches - done) / launches)
        count = "1 launch" if launches == 1 else f"{launches} launches"
        print(f"{title}: {count}{before}; this takes {about} {left} without other work")
        if ranks_on_a_node(ranks) > cores():
            print(f"With more ranks than cores ({cores()} here), the times contain waits for a CPU.", flush=True)
    return make_monitor(not quiet, Words("launches measured", best=""))
