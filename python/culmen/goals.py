"""What is wanted: objectives, limits of further figures, and where to begin."""

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from . import _core
from ._core import InputError
from .space import Value

if TYPE_CHECKING:
    from .study_file import LimitTable


At = Callable[..., contextlib.AbstractContextManager[None]]  # as naming() or Mistakes.at()


def set_goals(
    config: _core.StudyConfig,
    objectives: Mapping[str, str],
    limits: Mapping[str, "LimitTable"],
    starts: Iterable[Mapping[str, Value]],
    at: At | None = None,
) -> None:
    """``at`` gets the InputErrors, which name the table; None: they are raised. ``config`` has its space and its
    evaluator's kind of result."""
    at = at or naming
    with at("[objectives] ", "objectives"):
        config.objectives = list(objectives.items())
        if objectives and config.evaluator.result == "residuals":
            raise InputError("there can be none with residuals: their sum of squares is minimized")
    if objectives:
        config.evaluator.result = "figures"
    with at("[limits] ", "limits"):
        config.limits = [(name, _bound(t.lower, -math.inf), _bound(t.upper, math.inf)) for name, t in limits.items()]
    vectors = []
    for number, start in enumerate(starts, 1):
        with at(f"[[starts]] number {number}: ", "starts", number - 1):
            vectors.append(config.space.vector_of(start))
    config.starts = vectors


def set_stop(config: _core.StudyConfig, limits: Mapping[str, float], at: At | None = None) -> None:
    """``limits``: the stop rules that are given, by their names in the study file. ``at`` as for set_goals."""
    for name in ("target", "stagnation"):
        with (at or naming)("[stop] ", "stop", name):
            if len(config.objectives) > 1 and name in limits:
                raise InputError(f"{name} = {limits[name]}: it is for one objective, not for several")
    for name, limit in limits.items():
        setattr(config, name, as_given(limit, config.objectives) if name == "target" else limit)


@contextlib.contextmanager
def naming(heading: str, *_place: int | str) -> Iterator[None]:
    """Puts a heading in front of what an InputError says."""
    try:
        yield
    except InputError as e:
        raise InputError(f"{heading}{e}") from None


def oriented(value: float, direction: str) -> float:
    """The user's value as it is stored, to be minimized, and a stored one as the user knows it: that is the same."""
    return -value if direction == "maximize" else value


def direction_of(objectives: Iterable[tuple[str, str]]) -> str:
    """Of the first, or of the value where none is named."""
    return next(iter(objectives), ("", "minimize"))[1]


def as_given(value: float, objectives: Iterable[tuple[str, str]]) -> float:
    """``oriented`` by the first objective."""
    return oriented(value, direction_of(objectives))


def _bound(given: float | None, otherwise: float) -> float:
    return otherwise if given is None else given
