"""The sentences of ``--dry-run``: they say what a tuning would do."""

import math
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...base.text import grouped, lasted, plural, shown
from ...problem.given import Value
from ...study_file.space import ParameterTable
from .lines import lines_of
from .recipe import objective_of, parts_of, present_of
from .several import formula
from .tables import RecipeFile

NOTHING = "Nothing was run."


def preview(recipe: RecipeFile, file: Path, build: Path) -> Iterator[str]:
    """``file``: of the recipe. ``build``: the folder in which the lines build the program. Raises InputError."""
    present = present_of(recipe)
    yield from space_lines(recipe.space, present, bool(recipe.constraints))
    goal, maximize = objective_of(recipe)
    of = f", {formula(parts)}" if (parts := parts_of(recipe)) else ""
    yield f"Objective: the {'largest' if maximize else 'smallest'} {goal}{of}"
    yield from _limits(recipe)
    yield _plan(recipe)
    yield from _lines(recipe, present, file, build)
    yield NOTHING


def space_lines(
    space: Mapping[str, ParameterTable], present: Mapping[str, Value], has_constraints: bool
) -> Iterator[str]:
    """A line for each parameter, and the number of settings. ``present``: without inactive parameters."""
    searched = {name: table for name, table in space.items() if table.value is None}
    yield f"{plural(len(searched), 'parameter')}, {_number(searched, has_constraints)}:"
    for name, table in searched.items():
        now = shown_value(present[name]) if name in present else "inactive"
        only = f", if {table.active_when}" if table.active_when else ""
        yield f"  {name}: {_range(table)}{only} (present: {now})"
    if fixed := [f"{name} = {shown_value(table.value)}" for name, table in space.items() if table.value is not None]:
        yield f"Fixed: {', '.join(fixed)}"


def shown_value(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else shown(value)


def _number(searched: Mapping[str, ParameterTable], has_constraints: bool) -> str:
    number = math.prod(_size(table) for table in searched.values())
    if math.isinf(number):
        return "infinitely many settings"
    at_most = has_constraints or any(table.active_when for table in searched.values())
    return f"{'at most ' if at_most else ''}{grouped(int(number))} settings"


def _size(table: ParameterTable) -> float:
    if table.choices is not None:
        return len(table.choices)
    if table.type == "integer" and table.lower is not None and table.upper is not None:
        return math.floor(table.upper) - math.ceil(table.lower) + 1
    return 2 if table.type == "boolean" else math.inf


def _range(table: ParameterTable) -> str:
    if table.choices is not None or table.type == "boolean":
        return ", ".join(map(shown_value, table.choices or (False, True)))
    ends = f"{_end(table.lower)} to {_end(table.upper)}"
    return f"{ends}, logarithmic" if table.scale == "log" else ends


def _end(bound: float | None) -> str:
    return "any" if bound is None else shown(bound)


def _limits(recipe: RecipeFile) -> Iterator[str]:
    limit_s = recipe.evaluator.time_limit_s
    yield f"Time limit of a run: {f'{limit_s:g} s' if limit_s else 'none; time_limit_s in [evaluator] sets one'}"
    if recipe.stop.wall_time_s:
        yield f"Time limit of the search: {lasted(recipe.stop.wall_time_s)}"


def _plan(recipe: RecipeFile) -> str:
    most = recipe.stop.evaluations
    runs = f"at most {plural(most, 'run')}" if most else "runs until a limit of [stop]"
    several = sum(table.value is None for table in recipe.space.values()) > 1
    return (
        f"Plan: 1 run with the present settings, {runs} of the search, and {recipe.tune.rounds} rounds with "
        f"{'2 or 3' if several else '2'} runs each"
    )


def _lines(recipe: RecipeFile, present: Mapping[str, Value], file: Path, build: Path) -> Iterator[str]:
    lines = lines_of(recipe, present, file.resolve().parent, build)
    if lines:
        yield f"With the present settings, {'this line runs' if len(lines) == 1 else 'these lines run'}:"
        yield from (f"  {line}" for line in lines)
        return
    assert recipe.evaluator.command is not None
    if recipe.build is not None:
        yield f"The build, with values in place of the braces:\n  {shlex.join(recipe.build.command)}"
    yield f"The command, with values in place of the braces:\n  {shlex.join(recipe.evaluator.command)}"
