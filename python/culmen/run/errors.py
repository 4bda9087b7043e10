"""Errors of studies: from a store, after a run, or computed now."""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from .. import _core
from .._core import CulmenError, InputError
from ..base.warning import warn
from ..fit.errors import ONE_SIGMA, Best, Errors, Wanted, held_parameters, why_nothing_free
from ..launch.ranks import error_of, is_master, kind_of, letting_ranks_go
from ..problem.given import Value, check_fix
from ..problem.goals import as_given
from ..store.kept_errors import checked, keep, look_up
from ..store.opening import Opened
from .evaluations import CandidateEvaluator, with_workers
from .refit import Refit, refit_of
from .result import NO_END, Result

_WORTH_S, _WORTH_SHARE = 60.0, 0.1
Started = Callable[[CandidateEvaluator], None]
_Found = TypeVar("_Found", bound=Errors | None)


def errors_of_study(
    config: _core.StudyConfig,
    options: _core.RunOptions,
    admit_change: Callable[[], str],
    *,
    profile: bool,
    confidence: float | None,
    up: float,
    workers: int | None,
    again: bool,
    fix: Mapping[str, Value] | None = None,
) -> Errors:
    """``admit_change``: gives a sentence for a warning about changes of the evaluator, or raises InputError. A failure
    to store the errors is a warning, too. ``fix``: values of fixed parameters; the store then keeps no errors."""
    if not is_master():
        return errors_from_master()
    with letting_ranks_go():
        if fix is not None:
            check_fix(fix)
        wanted = wanted_errors(profile, confidence, up, config.returns_residuals)
        path = Path(options.store)
        best, found = look_up(Opened(path, "errors"), config, wanted, again or bool(fix))
        further = with_workers(options, workers)
        refit = refit_of(config, best, fix) if fix else None
        if found is None and (note := admit_change()):
            warn(note)
        if found is not None:
            refuse_ranks(path)
    if refit is not None:
        return find_refitted(refit, further, wanted)
    if found is None:
        found = _computed(path, lambda: find(config, further, best, wanted))
    return found


def refuse_ranks(path: str | Path) -> None:
    """Raises InputError under MPI if the store already has the errors: the other ranks would wait in vain."""
    if _core.detect_launch().is_rank:
        raise InputError(f"{path} holds these errors already; run the command without ranks")


def look_up_or_compute(
    opened: Opened,
    config: _core.StudyConfig,
    wanted: Wanted,
    compute: Callable[[Best], _Found],
    again: bool = False,
    keeps: bool = True,
) -> tuple[Errors | _Found, str]:
    """The errors in the store, and an empty text; otherwise the result of ``compute_and_keep``.

    ``compute`` gets the store's best candidate. ``again``: compute the errors even if they are in the store. ``keeps``:
    False if the store must not keep these errors."""
    best, found = look_up(opened, config, wanted, again or not keeps)
    if found is not None:
        return found, ""
    return compute_and_keep(opened.path if keeps else None, lambda: compute(best))


def compute_and_keep(store: Path | None, compute: Callable[[], _Found]) -> tuple[_Found, str]:
    """The computed errors, and a sentence if they could not be stored. ``compute`` may return None instead of errors.
    ``store``: None if no store keeps them."""
    found = compute()
    return found, "" if found is None or store is None else keep(store, found)


def _computed(store: Path | None, compute: Callable[[], Errors]) -> Errors:
    """``compute_and_keep``, but the sentence becomes a warning."""
    found, note = compute_and_keep(store, compute)
    if note:
        warn(note)
    return found


def wanted_errors(profile: bool, confidence: float | None, up: float, of_residuals: bool) -> Wanted:
    """Raises InputError for arguments that contradict each other."""
    if confidence is not None and not profile:
        raise InputError("confidence applies to profile intervals; ask for the profile too, or remove confidence")
    if up != 1 and of_residuals:
        raise InputError(
            "up applies to values, not to residuals, whose errors are for a rise of the value by 1; remove up"
        )
    return Wanted(profile, ONE_SIGMA if confidence is None else confidence, up)


def find(
    config: _core.StudyConfig,
    options: _core.RunOptions,
    best: Best | Callable[[CandidateEvaluator], Best],
    wanted: Wanted,
    started: Started | None = None,
    note: Callable[[Best], str] | None = None,
) -> Errors:
    """Computes the errors. In a launch, rank 0 calls it while the other ranks serve. ``started`` gets the evaluator
    when it has started. ``best`` may be a function that first finds the best candidate. ``note`` may be a function that
    returns a remark on it."""
    from ..fit.finding import Fit  # NumPy, which the start of a run does not need

    with CandidateEvaluator(config, options) as evaluate:
        try:
            if started:
                started(evaluate)
            at = best(evaluate) if callable(best) else best
            before = evaluate.count
            found = Fit(config, at, wanted, evaluate).errors()
            if note:
                remarks = [note(at), *found.notes]
                found = replace(found, evaluations=found.evaluations + before, notes=remarks)
            evaluate.note = found.to_json()
        except CulmenError as e:
            evaluate.note = json.dumps({"kind": kind_of(e), "why": str(e)})
            raise
    return found


def find_refitted(refit: Refit, options: _core.RunOptions, wanted: Wanted, started: Started | None = None) -> Errors:
    """``find`` for a study with fixed parameters, after the others were fitted again."""

    def best_of(evaluate: CandidateEvaluator) -> Best:
        return refit.best(evaluate, wanted.up)

    return find(refit.config, options, best_of, wanted, started, refit.note)


def errors_from_master() -> Errors:
    """In a rank other than 0: what ``find`` returns or raises in rank 0."""
    note = _core.serve_rank().message
    if not note.startswith("{"):  # of a run that ended in another way
        raise CulmenError(note)
    if "why" in (failure := json.loads(note)):
        raise error_of(failure["kind"], failure["why"])
    return Errors.from_json(note)


def _best_of_result(result: Result, config: _core.StudyConfig) -> Best:
    if result.x is None or result.value is None:
        raise InputError("there is no best candidate whose errors could be computed: no evaluation succeeded")
    cost = as_given(result.value, config.objectives)
    x = config.space.searched(result.x)
    return checked(Best(x, cost, result.residuals, result.evaluation, result.extras), config, "the study")


Lend = Callable[[], AbstractContextManager[_core.LentWorkers | None]]
Finder = Callable[..., Errors]


def finder(config: _core.StudyConfig, options: _core.RunOptions, lend: Lend) -> Finder:
    """The function with which a Result computes its errors. It uses the workers that the program lends, if there are
    any."""

    def errors_of_result(
        result: Result,
        *,
        profile: bool = False,
        confidence: float | None = None,
        up: float = 1.0,
        workers: int | None = None,
    ) -> Errors:
        wanted = wanted_errors(profile, confidence, up, config.returns_residuals)
        best = _best_of_result(result, config)
        further = with_workers(options, workers)

        def compute() -> Errors:
            with lend() as further.lent:
                return find(config, further, best, wanted)

        return _computed(Path(result.store) if result.store else None, compute)

    return errors_of_result


def with_errors_of_ranks(result: Result, space: _core.Space) -> Result:
    """Called in all ranks of a launch. Computes the errors of a least-squares fit now, because no rank serves later."""
    known, lost = None, ""
    if result.residuals and not why_not(result, space):
        try:
            known = result.find_errors() if is_master() else errors_from_master()
        except CulmenError as e:
            lost = str(e)
    return replace(result, _finder=None, _known_errors=known, _lost_errors=lost)


def why_not(result: Result, space: _core.Space, again: str = "") -> str:
    """Why a run ends without errors, as a sentence; empty if it has errors. The same in all ranks of a launch.

    ``again``: the advice how to compute them. The sentence ends with it if it helps."""
    after = again and f"; {again}"
    if result.x is None or result.reason in NO_END or result.violation > 0:
        return f"the fit did not reach its end{after}"
    held = held_parameters(space, space.searched(result.x))
    free = len(space) - len(held)
    if not free:
        return why_nothing_free(held)
    seconds = 2 * free * result.wall_s / max(result.evaluations, 1)
    if seconds > _WORTH_S and seconds > _WORTH_SHARE * result.wall_s:
        return f"they need {2 * free} evaluations, which would take about {seconds:.0f} s{after}"
    return ""
