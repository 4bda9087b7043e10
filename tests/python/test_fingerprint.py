"""The message about another study names keys that are in the fingerprint: all of them, and no others."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from culmen.run.study import Study
from culmen.store.differences import _tells_apart, settings_that_differ
from culmen.study_file import Mistakes, StudyFile, checked, tables_in
from culmen.study_file.program import ProgramStudy
from culmen.study_file.table import Table

pytestmark = pytest.mark.no_numbers

STUDY = {
    "name": "study",
    "space": {"x": {"lower": 1, "upper": 5}, "y": {"lower": 1, "upper": 5}, "c": {"choices": ["a", "b"]}},
    "limits": {"u": {"upper": 2}},
    "optimizer": {"name": "evolution"},
    "stop": {"evaluations": 100},
}
FIGURE = {"file": ("a", "b"), "key": ("a", "b"), "regex": ("(a)", "(b)"), "which": ("last", "first")}
ROBUST = {"loss": {"result": "residuals"}, "f_scale": {"result": "residuals", "loss": "huber"}}
NEEDS = {
    "which": {"regex": "(a)"},
    "stagnation_tolerance": {"stagnation": 50},
    "team_placement": {"team_size": 2},
    **ROBUST,
}  # other keys of the same table

# By the evaluator: for each key its value in two studies that differ in nothing else; None: the key is missing.
CHANGES: dict[str, dict[str, tuple[Any, Any]]] = {
    "python = model.py:f": {
        "name": ("study", "other"),
        "seed": (1, 2),
        "space.x.type": ("real", "integer"),
        "space.x.lower": (1, 2),
        "space.x.upper": (5, 6),
        "space.x.scale": ("linear", "log"),
        "space.x.initial": (None, 2),
        "space.x.value": (None, 2),
        "space.x.active_when": (None, "y > 2"),
        "space.c.choices": (["a", "b"], ["a", "d"]),
        "constraints.line": ("x + y <= 9", "x + y <= 8"),
        "starts": ([], [{"x": 2, "y": 2, "c": "a"}]),
        "objectives.u": ("minimize", "maximize"),
        "derived.d": (None, "2 * x"),
        "residuals.r": (None, "2 * x"),
        "limits.v.expression": ("x + u <= 2", "x + u <= 3"),
        "limits.u.lower": (None, 1),
        "limits.u.upper": (2, 3),
        "optimizer.name": ("evolution", "random"),
        "optimizer.generational": (True, False),
        "optimizer.children": (20, 30),
        "stop.evaluations": (100, 200),
        "stop.target": (None, 1),
        "stop.stagnation": (None, 50),
        "stop.stagnation_tolerance": (None, 0.1),
        "stop.wall_time_s": (None, 9),
        "run.workers": (None, 3),
        "run.prefetch": (True, False),
        "run.team_size": (None, 2),
        "run.team_placement": ("node", "any"),
        "run.durability": ("process", "power"),
        "store": (None, "other.db"),
        "evaluator.python": ("model.py:f", "model.py:g"),
        "evaluator.result": ("value", "residuals"),
        "evaluator.loss": ("linear", "huber"),
        "evaluator.f_scale": (1, 2),
        "evaluator.time_limit_s": (None, 3),
        "evaluator.batch": (None, 4),
        "evaluator.environment.A": (None, "1"),
        "evaluator.modules": ([], ["gcc"]),
        "evaluator.data": ([], ["in.txt"]),
        "evaluator.output": ("failures", "all"),
        "evaluator.on_failure": ("penalise", "retry"),
        "evaluator.retries": (2, 3),
        "evaluator.give_up_after": (100, 7),
        "evaluator.evaluate_infeasible": (False, True),
    },
    "library = model.so:f": {
        "evaluator.library": ("model.so:f", "model.so:g"),
        "evaluator.isolation": ("process", "none"),
    },
    "command = ./run.sh": {
        "evaluator.command": (["./run.sh"], ["./run.sh", "--fast"]),
        "evaluator.templates": ([], ["in.txt"]),
        "evaluator.inputs.copy": ([], ["in.txt"]),
        "evaluator.inputs.link": ([], ["in.txt"]),
        "evaluator.stdin": (None, "json"),
        "evaluator.keep": ("all", "none"),
        **{f"evaluator.{table}.{k}": v for table in ("value", "residuals", "values.u") for k, v in FIGURE.items()},
    },
    "function = model.f": {
        "evaluator.function": ("model.f", "model.g"),
        "evaluator.positional": (None, True),
    },
}
NAMES = {"x", "c", "u", "v", "d", "r", "line", "A"}  # those that the studies above chose
OPTION = "optimizer.children"  # of the optimizer: the study file does not list them


def all_keys(table: type[Table], place: str = "") -> Iterator[str]:
    inner = tables_in(table)
    for name, field in table.model_fields.items():
        key = place + (field.serialization_alias or name)
        yield from all_keys(inner[name], f"{key}.") if name in inner else [key]


def without_names(place: str) -> str:
    return ".".join(word for word in place.split(".") if word not in NAMES)


def study_file(evaluator: str, place: str, value: Any) -> StudyFile:
    """One whose key at this place has this value."""
    kind, _, named = evaluator.partition(" = ")
    data: dict[str, Any] = {**deepcopy(STUDY), "evaluator": {kind: [named] if kind == "command" else named}}
    *tables, key = place.split(".")
    table = data
    for name in tables:
        table = table.setdefault(name, {})
    table.update({**NEEDS.get(key, {}), **({} if value is None else {key: value})})
    return checked(ProgramStudy if kind == "function" else StudyFile, data, "test")


def test_every_key_of_a_study_is_changed_here():
    keys = {*all_keys(StudyFile), *all_keys(ProgramStudy), OPTION}
    assert {without_names(place) for changes in CHANGES.values() for place in changes} == keys


@pytest.mark.parametrize(("evaluator", "place"), [(e, place) for e, changes in CHANGES.items() for place in changes])
def test_a_key_tells_studies_apart_if_it_is_in_the_fingerprint(tmp_path, evaluator, place):
    for name in ("model.py", "model.so", "run.sh", "in.txt"):
        (tmp_path / name).write_text("{{x}} {{y}} {{c}}")
    files = [study_file(evaluator, place, value) for value in CHANGES[evaluator][place]]
    configs = [Study.of(file, tmp_path, Mistakes("study.toml"), "study.db", len).config for file in files]
    changed = [row[0] for row in settings_that_differ(*(json.loads(config.configuration) for config in configs))]
    assert place in [*changed, "name", "store"]
    differ = configs[0].fingerprint != configs[1].fingerprint
    assert [key for key in changed if _tells_apart(key)] == ([place] if differ else [])
