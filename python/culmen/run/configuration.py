"""From the tables of a study file to the engine's configuration."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import _core
from .._core import InputError
from ..base.text import did_you_mean
from ..problem.given import Value
from ..problem.goals import as_given, bounds_of
from ..problem.options import check
from ..problem.parameter import Parameter
from ..problem.space import Space, fixed_names
from ..study_file import Mistakes, StudyFile, advice
from .evaluator import check_command, evaluator_of


def set_goals(config: _core.StudyConfig, file: "StudyFile", mistakes: "Mistakes") -> None:
    """``config`` already has the evaluator's kind of result and, if it is right, the space."""
    with mistakes.at(file.place("residuals"), "residuals"):
        if file.residuals and config.evaluator.result == "residuals":
            raise InputError('the evaluator returns residuals itself (result = "residuals"); remove one of the two')
        config.residual_names = list(file.residuals)
    with mistakes.at(file.place("evaluator"), "evaluator", "loss"):
        if file.evaluator.loss != "linear" and not config.returns_residuals:
            raise InputError(
                f'loss = "{file.evaluator.loss}" needs residuals; return them and write result = "residuals", or '
                "remove loss"
            )
    with mistakes.at(file.place("objectives"), "objectives"):
        config.objectives = list(file.objectives.items())
        if file.objectives and config.returns_residuals:
            raise InputError(
                "residuals allow no objectives, because the sum of their squares is minimized; remove one of the two"
            )
    if file.objectives or file.residuals:
        config.evaluator.result = "figures"
    bounds = {name: t.model_dump() for name, t in file.limits.items() if t.expression is None}
    with mistakes.at(file.place("limits"), "limits"):
        config.limits = bounds_of(bounds)
    if not mistakes.concern("space"):
        _set_expressions(config, file, mistakes)
    vectors = []
    for number, start in enumerate([] if mistakes.concern("space") else file.starts, 1):
        with mistakes.at(f"{file.place('starts')}number {number}: ", "starts", number - 1):
            vectors.append(config.space.vector_of(_without_fixed(start, config.space)))
    config.starts = vectors


def _without_fixed(start: dict[str, Value], space: _core.Space) -> dict[str, Value]:
    """The start without fixed parameters. It may still contain the value of a parameter that was fixed later."""
    fixed = fixed_names(space)
    return {name: value for name, value in start.items() if name not in fixed}


def _set_expressions(config: _core.StudyConfig, file: "StudyFile", mistakes: "Mistakes") -> None:
    """Sets the expressions. It first tries them one by one, so that it finds each mistake."""
    derived = [*file.derived.items(), *file.residuals.items()]
    conditions = [(name, t.expression) for name, t in file.limits.items() if t.expression is not None]
    for name, text in derived:
        table = _table_of(name, file, "objectives", "residuals")
        with mistakes.at(file.place(table), table, name):
            config.derived = [(name, text)]
    for name, text in conditions:
        with mistakes.at(file.place("limits"), "limits", name):
            config.conditions = [(name, text)]
    if not mistakes.concern("objectives", "residuals", "derived", "limits"):
        with mistakes.at(file.place("derived"), "derived"):
            config.derived, config.conditions = derived, conditions
            _check_results(config, file, mistakes)


def _table_of(expression: str, file: "StudyFile", *tables: str) -> str:
    """The table in which the user wrote the expression: one of ``tables``, or "derived"."""
    return next((table for table in tables if expression in getattr(file, table)), "derived")


def _check_results(config: _core.StudyConfig, file: "StudyFile", mistakes: "Mistakes") -> None:
    """Checks that the results of a command are enough for the expressions, if the file names these results."""
    places = file.evaluator.figures
    if file.evaluator.kind != "command" or not places:
        return
    known = [*places, "value", *file.derived]
    for owner, name in config.needed_figures:
        table = _table_of(owner, file, "objectives", "residuals", "limits")
        if name in known or (table == "limits" and name in file.objectives):
            continue
        near = did_you_mean(name, [*known, *file.space]) or f"; [evaluator] names {', '.join(places)}"
        mistakes.add((table, owner), f"{file.place(table)}{owner}: there is no result '{name}'{near}")


def set_stop(config: _core.StudyConfig, file: "StudyFile", mistakes: "Mistakes") -> None:
    """``config`` already has the objectives; several of them allow no target and no stagnation."""
    for name in ("target", "stagnation"):
        with mistakes.at(file.place("stop"), "stop", name):
            if len(config.objectives) > 1 and (limit := getattr(file.stop, name)) is not None:
                raise InputError(f"{name} = {limit}: it needs one objective, but there are several; remove it")
    file.stop.apply("config", config)
    if file.stop.target is not None:
        config.target = as_given(file.stop.target, config.objectives)


def options_of(file: StudyFile, store: str) -> _core.RunOptions:
    options = _core.RunOptions()
    options.store = store
    file.run.apply("options", options)
    return options


def config_of(file: StudyFile, folder: Path, mistakes: Mistakes) -> _core.StudyConfig:
    """Raises InputError with all mistakes, also those that are already known."""
    config = _core.StudyConfig()
    for table in (file, file.evaluator, file.optimizer):
        table.apply("config", config)
    _set_space(config, file, mistakes)
    place = file.place("evaluator")
    if not mistakes.concern("evaluator"):
        config.evaluator = evaluator_of(file.evaluator, folder, place, mistakes)
    if not mistakes.concern("space", "evaluator"):
        with mistakes.at(place, "evaluator"):
            check_command(config.space, config.evaluator)
    set_goals(config, file, mistakes)
    set_stop(config, file, mistakes)
    if not mistakes.concern("space", "constraints", "evaluator", "objectives", "optimizer"):
        _try_optimizer(config, file, mistakes)
    _check_end(config, file, mistakes)
    mistakes.raise_any()
    identify(config, [file.evaluator.kind, file.evaluator.named, *filter(None, [file.evaluator.deciding])])
    return config


def _set_space(config: _core.StudyConfig, file: StudyFile, mistakes: Mistakes) -> None:
    """Sets the space as a whole. If that fails, sets it part by part, so that it finds each mistake."""
    heading = file.place("space")
    parameters = {name: Parameter(**p.model_dump()) for name, p in file.space.items()}
    plain = {name: replace(p, active_when=None) for name, p in parameters.items()}
    if mistakes.concern("space"):  # parameters with a mistake are missing: conditions on them cannot be checked
        parameters = plain
    try:
        config.space = Space(parameters).core
    except InputError as e:
        for name, p in plain.items():
            with mistakes.at(heading, "space", name):
                Space({name: p, f"{name} ": Parameter(0, 1)})  # a fixed one alone is no space
        if not mistakes.concern("space"):
            with mistakes.at(heading, "space"):
                Space(plain)
        for name, p in parameters.items() if not mistakes.concern("space") else ():
            with mistakes.at(heading, "space", name):
                Space({**plain, name: p})
        if not mistakes.concern("space"):
            mistakes.add(("space",), f"{heading}{e}")
    for name, text in file.constraints.items() if not mistakes.concern("space") else ():
        with mistakes.at(file.place("constraints"), "constraints", name):
            Space(parameters, {name: text})
    if file.constraints and not mistakes.concern("space", "constraints"):
        config.space = Space(parameters, file.constraints).core


def _try_optimizer(config: _core.StudyConfig, file: StudyFile, mistakes: Mistakes) -> None:
    """Sets the optimizer with all options. If that fails, tries it without options, and then with one option at a
    time."""
    name, options, heading = file.optimizer.name, file.optimizer.model_extra or {}, file.place("optimizer")
    try:
        _set_optimizer(config, name, options)
    except InputError as e:
        for some in ({}, *({option: value} for option, value in options.items())):
            with mistakes.at(heading, "optimizer", *(some or ("name",))):
                _set_optimizer(config, name, some)
            if not some and mistakes.concern("optimizer"):
                return
        if not mistakes.concern("optimizer"):
            mistakes.add(("optimizer",), f"{heading}{e}")


def _set_optimizer(config: _core.StudyConfig, name: str | None, options: Mapping[str, Any]) -> None:
    """Without a name, culmen chooses the optimizer. The space and the goals must be set before.

    Raises InputError for an unknown optimizer or option, and if the optimizer cannot solve this problem.
    """
    config.optimizer = name or ""
    check(options)
    config.optimizer_options = dict(options)
    _core.choose_optimizer(config)
    _core.check_optimizer(config)


def _check_end(config: _core.StudyConfig, file: StudyFile, mistakes: Mistakes) -> None:
    """Checks that something can end the study. Without a limit, only the agreement of local searches ends a study. If
    the optimizer is not known, residuals are enough."""
    unknown = mistakes.concern("space", "constraints", "evaluator", "objectives", "optimizer")
    if file.stop.ends or (config.returns_residuals if unknown else _core.can_converge(config)):
        return
    if file.has_sections and "stop" not in file.model_fields_set:
        mistakes.add(("stop",), f"the table [stop] is missing{advice.missing('stop')}")
    else:
        evaluations = type(file.stop).model_fields["evaluations"].validation_alias or "evaluations"
        place = "[stop]: " if file.has_sections else ""
        sentence = "stagnation and wall_time_s must be given, otherwise the study may never end"
        mistakes.add(("stop",), f"{place}at least one of {evaluations}, target, {sentence}")


def identify(config: _core.StudyConfig, evaluator: list[Any]) -> None:
    """Identifies the evaluator by the name that the user wrote, so that a study can move to another folder."""
    config.evaluator_identity = json.dumps(evaluator)
    config.fingerprint = _core.fingerprint_of(config)
