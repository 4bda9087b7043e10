"""Errors of the study in a store, for programs."""

from pathlib import Path

from .._core import InputError
from ..fit.errors import Errors
from ..launch.ranks import is_master, letting_ranks_go
from ..store.opening import Opened, function_in, open_store
from .errors import errors_from_master
from .study import Study


def errors(
    store: str | Path,
    *,
    profile: bool = False,
    confidence: float | None = None,
    up: float = 1.0,
    workers: int | None = None,
    again: bool = False,
) -> Errors:
    """Errors of the parameters at the best candidate of a study's store.

    Of a least-squares study from the derivatives of its residuals: right for Δχ² = 1 where residuals are in units of
    their standard deviations. Of any other from the second derivatives of its value, which rises by ``up`` over one
    error (falls, where it is maximized): 1 where it is a χ², 0.5 where it is ±log L. Derivatives are differences, 2
    evaluations a parameter (of values n (n + 1) or more), by ``workers`` at a time; none of them counts for the study.
    ``profile``: also intervals of the profile likelihood, for ``confidence`` (without it that of one standard
    deviation, 0.683).
    They are kept in the store; a second call returns what is there, unless it is to be done ``again``.

    In a script under MPI all ranks call it and get the same.
    Raises InputError where there is nothing to take errors of, StoreError, TransportError. Ctrl-C ends the
    evaluations.
    """
    if not is_master():
        return errors_from_master()
    with letting_ranks_go():
        study = study_of(open_store(store, "errors"))
    return study.errors(profile=profile, confidence=confidence, up=up, workers=workers, again=again)


def study_of(opened: Opened) -> Study:
    """Raises InputError where its evaluator is not in it."""
    store = opened.path
    if function := function_in(opened.begun.configuration):
        raise InputError(
            f"{store} was made by culmen.minimize with {function}; the same call with store='{store}' returns "
            f"a result whose .errors they are"
        )
    return Study.of_store(opened)
