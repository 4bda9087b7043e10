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
    """Computes the errors of the parameters at the best candidate of a study's store.

    For a least-squares study they come from the derivatives of its residuals, for Δχ² = 1; this holds if residuals are
    in units of their standard deviations. For any other study they come from the second derivatives of its value, which
    rises by ``up`` over one error (falls, if it is maximized): 1 for a χ², 0.5 for ±log L. Derivatives are
    differences, with 2 evaluations for each parameter (for values n (n + 1) or more), by ``workers`` in parallel; none
    of them counts for the study.
    ``profile``: also compute profile-likelihood intervals for ``confidence``, by default 0.683, which corresponds to
    one standard deviation.
    The store keeps the errors, and a second call returns them, unless they are to be computed ``again``.

    In a script under MPI all ranks call it and get the same errors.
    Raises InputError if there is nothing to compute errors of, StoreError, TransportError. Ctrl-C ends the evaluations.
    """
    if not is_master():
        return errors_from_master()
    with letting_ranks_go():
        study = study_of(open_store(store, "errors"))
    return study.errors(profile=profile, confidence=confidence, up=up, workers=workers, again=again)


def study_of(opened: Opened) -> Study:
    """Raises InputError if the store does not describe the evaluator."""
    store = opened.path
    if function := function_in(opened.begun.configuration):
        raise InputError(
            f"{store} was made by culmen.minimize with {function}; make the same call with store='{store}' and read "
            f"the result's .errors"
        )
    return Study.of_store(opened)
