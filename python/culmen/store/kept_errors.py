"""The errors that a store keeps, and the best candidate that they are taken at."""

import json
from pathlib import Path

from .. import _core
from .._core import CulmenError, InputError
from ..fit.errors import Best, Errors, Wanted
from .opening import Opened

_NOTE = "errors"  # under this name a store keeps them


def look_up(
    opened: Opened, config: _core.StudyConfig, wanted: Wanted, again: bool = False
) -> tuple[Best, Errors | None]:
    """The store's best candidate and, unless they are wanted ``again``, the errors that it keeps.

    Raises InputError where there is nothing to take errors of."""
    return _best_of(opened, config), None if again else kept(opened, wanted)


def _best_of(opened: Opened, config: _core.StudyConfig) -> Best:
    summary, path = opened.summary, opened.path
    if summary["owned"]:
        raise InputError(
            f"{path} is in use: {summary['owner']} runs this study; its errors can be taken when it has ended"
        )
    if summary["best"] is None:
        told = f"its {summary['told']} evaluations all failed" if summary["told"] else "it holds no evaluation yet"
        raise InputError(f"{path} has no best candidate to take errors of: {told}")
    number = summary["best_evaluation"]
    residuals = opened.store.outcomes(number, 1)[0]["residuals"]
    return checked(Best(summary["best"], summary["best_value"], residuals, number), config, str(path))


def checked(best: Best, config: _core.StudyConfig, name: str) -> Best:
    if len(config.objectives) > 1:
        raise InputError(
            f"{name} has {len(config.objectives)} objectives; errors are those of one value or of residuals"
        )
    if config.space.violation(best.x) > 0:
        raise InputError(f"the best candidate of {name} violates its constraints; there are no errors about it")
    return best


def kept(opened: Opened, wanted: Wanted | None = None) -> Errors | None:
    """What is in the store, if it is of its present best candidate and, where that is said, what is wanted."""
    text = opened.store.note(_NOTE)
    if not text or json.loads(text).get("evaluation") != opened.summary["best_evaluation"]:
        return None
    try:
        found = Errors.from_json(text)
    except (KeyError, TypeError):  # of another version of culmen
        return None
    if wanted is None:
        return found
    same = found.up == wanted.up and (not wanted.profile or found.confidence == wanted.confidence)
    return found if same else None


def keep(path: Path, found: Errors) -> str:
    """A sentence where it cannot be kept; else empty."""
    try:
        _core.Store.keep_note(str(path), _NOTE, found.to_json())
    except CulmenError as e:
        return f"the errors are not kept: {e}"
    return ""
