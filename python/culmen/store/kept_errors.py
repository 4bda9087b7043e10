"""The errors that a store keeps, and the best candidate to which they belong."""

import json
from pathlib import Path

from .. import _core
from .._core import CulmenError, InputError
from ..fit.errors import Best, Errors, Wanted
from .opening import Opened

_NOTE = "errors"  # the key of the errors in a store


def look_up(
    opened: Opened, config: _core.StudyConfig, wanted: Wanted, again: bool = False
) -> tuple[Best, Errors | None]:
    """The store's best candidate and the errors that it keeps; no errors if they shall be computed ``again``.

    Raises InputError if there is nothing to compute errors of."""
    return _best_of(opened, config), None if again else kept(opened, wanted)


def _best_of(opened: Opened, config: _core.StudyConfig) -> Best:
    summary, path = opened.summary, opened.path
    if summary["owned"]:
        raise InputError(
            f"{path} is in use: {summary['owner']} runs this study; its errors can be computed when the run has ended"
        )
    if summary["best"] is None:
        told = f"its {summary['told']} evaluations all failed" if summary["told"] else "it holds no evaluation yet"
        raise InputError(f"{path} has no best candidate whose errors could be computed: {told}")
    number = summary["best_evaluation"]
    row = opened.store.outcomes(number, 1)[0]
    best = Best(summary["best"], summary["best_value"], row["residuals"], number, row["extras"])
    return checked(best, config, str(path))


def checked(best: Best, config: _core.StudyConfig, name: str) -> Best:
    if len(config.objectives) > 1:
        raise InputError(
            f"{name} has {len(config.objectives)} objectives; errors exist only for one value or for residuals"
        )
    if config.space.violation(best.x) > 0:
        raise InputError(f"the best candidate of {name} violates its constraints, so its errors cannot be computed")
    return best


def kept(opened: Opened, wanted: Wanted | None = None) -> Errors | None:
    """The errors in the store if they belong to its present best candidate and, if given, to ``wanted``."""
    text = opened.store.note(_NOTE)
    try:
        if not text or json.loads(text).get("evaluation") != opened.summary["best_evaluation"]:
            return None
        found = Errors.from_json(text)
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
    ):  # written by another version of culmen, or damaged
        return None
    return found if wanted is None or serves(found, wanted) else None


def serves(found: Errors, wanted: Wanted) -> bool:
    """Whether the stored errors include the requested ones."""
    return found.up == wanted.up and (not wanted.profile or found.confidence == wanted.confidence)


def keep(path: Path, found: Errors) -> str:
    """A sentence if it cannot be kept; else empty."""
    try:
        _core.Store.keep_note(str(path), _NOTE, found.to_json())
    except CulmenError as e:
        return f"the errors could not be stored: {e}"
    return ""
