"""Errors of the study in a store, for programs."""

from collections.abc import Mapping
from pathlib import Path

from .._core import InputError
from ..fit.errors import Errors
from ..launch.ranks import is_master, letting_ranks_go
from ..problem.given import Value
from ..store.kept_errors import kept, serves
from ..store.opening import Opened, function_in, open_store
from .errors import errors_from_master, refuse_ranks, wanted_errors
from .study import Study


def errors(
    store: str | Path,
    *,
    profile: bool = False,
    confidence: float | None = None,
    up: float = 1.0,
    workers: int | None = None,
    again: bool = False,
    fix: Mapping[str, Value] | None = None,
    accept_changes: bool = False,
) -> Errors:
    """Computes the errors (uncertainties) of the best parameters in a store. The store keeps these errors for the next
    call.

    - ``profile``: also compute intervals of the profile likelihood, which may be asymmetric.
    - ``confidence``: confidence level of the intervals. Default: 0.683, which corresponds to one standard deviation.
    - ``up``: only for a study that returns a value instead of residuals. If a parameter moves by its error, and if the
      other parameters are fitted again, the value rises by ``up``. Give 1 for a χ², and 0.5 for a negative
      log-likelihood.
    - ``workers``: number of evaluations in parallel.
    - ``again``: compute the errors again, even if they are in the store.
    - ``fix``: parameters that are fixed, with their values, such as ``{"n": 5}``. culmen first fits the other
      parameters again. The store does not keep these errors.
    - ``accept_changes``: compute the errors even if the evaluator has changed since the store was made.

    For residuals, the errors are for Δχ² = 1: χ² rises by 1 if a parameter moves by its error, and if the other
    parameters are fitted again. The residuals must then be in units of their standard deviations.

    For n parameters, the errors need at least 2 n evaluations. If the study returns a value instead of residuals, the
    errors need at least n (n + 1) evaluations. These evaluations do not count towards the limit of the study.

    Under MPI, every rank must make this call, and every rank gets the same errors.

    Raises InputError if the errors cannot be computed, StoreError if the store is damaged, and TransportError if
    workers cannot be started.
    """
    given = {name: value for name, value in locals().items() if name != "store"}
    if not is_master():
        return errors_from_master()
    with letting_ranks_go():
        opened = open_store(store, "errors")
        if again is False and fix is None and (stored := kept_of_program(opened, profile, confidence, up)):
            refuse_ranks(store)
            return stored
        study = study_of(opened)
    return study.errors(**given)


def kept_of_program(opened: Opened, profile: bool, confidence: float | None, up: float) -> Errors | None:
    """The errors in the store of a program's function. Only that program could compute them again."""
    if not function_in(opened.begun.configuration) or opened.summary["owned"]:
        return None
    found = kept(opened)
    if found is None or not serves(found, wanted_errors(profile, confidence, up, bool(found.residuals))):
        return None
    return found


def study_of(opened: Opened) -> Study:
    """Raises InputError if the store does not describe the evaluator."""
    store = opened.path
    if function := function_in(opened.begun.configuration):
        raise InputError(
            f"{store} was made by culmen.minimize with {function}; make the same call with store='{store}' and read "
            f"the result's .errors"
        )
    return Study.of_store(opened)
