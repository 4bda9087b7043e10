"""What is wanted: objectives, limits of further figures, and where to begin."""

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from .. import _core
from .._core import InputError

if TYPE_CHECKING:
    from ..study_file import Mistakes, StudyFile


def set_goals(config: _core.StudyConfig, file: "StudyFile", mistakes: "Mistakes") -> None:
    """``config`` has its evaluator's kind of result and, where it is right, its space."""
    with mistakes.at(file.place("objectives"), "objectives"):
        config.objectives = list(file.objectives.items())
        if file.objectives and config.evaluator.result == "residuals":
            raise InputError("there can be none with residuals: their sum of squares is minimized")
    if file.objectives:
        config.evaluator.result = "figures"
    with mistakes.at(file.place("limits"), "limits"):
        config.limits = bounds_of({name: t.model_dump() for name, t in file.limits.items()})
    vectors = []
    for number, start in enumerate([] if mistakes.concern("space") else file.starts, 1):
        with mistakes.at(f"{file.place('starts')}number {number}: ", "starts", number - 1):
            vectors.append(config.space.vector_of(start))
    config.starts = vectors


def set_stop(config: _core.StudyConfig, file: "StudyFile", mistakes: "Mistakes") -> None:
    """``config`` has its objectives; several of them have no target and no stagnation."""
    limits = file.stop.model_dump(exclude_none=True)
    for name in ("target", "stagnation"):
        with mistakes.at(file.place("stop"), "stop", name):
            if len(config.objectives) > 1 and name in limits:
                raise InputError(f"{name} = {limits[name]}: it is for one objective, not for several")
    for name, limit in limits.items():
        setattr(config, name, as_given(limit, config.objectives) if name == "target" else limit)


def oriented(value: float, direction: str) -> float:
    """The user's value as it is stored, to be minimized, and a stored one as the user knows it: that is the same."""
    return -value if direction == "maximize" else value


def direction_of(objectives: Iterable[tuple[str, str]]) -> str:
    """Of the first, or of the value where none is named."""
    return next(iter(objectives), ("", "minimize"))[1]


def as_given(value: float, objectives: Iterable[tuple[str, str]]) -> float:
    """``oriented`` by the first objective."""
    return oriented(value, direction_of(objectives))


def bounds_of(limits: Mapping[str, Mapping[str, float | None]]) -> list[tuple[str, float, float]]:
    """Name, lower, upper."""
    return [(name, _bound(t.get("lower"), -math.inf), _bound(t.get("upper"), math.inf)) for name, t in limits.items()]


def _bound(given: float | None, otherwise: float) -> float:
    return otherwise if given is None else given
