"""The differences between two studies, from the configurations that their stores keep."""

import json
from collections.abc import Iterator
from typing import Any

from .. import _core
from ..study_file.program import ProgramEvaluator
from .opening import Begun


def another_study(begun: Begun, config: _core.StudyConfig) -> str:
    """Says that the store holds another study, and their first difference; for a store of another fingerprint."""
    return f"{begun.path} holds another study ('{begun.name}': {first_difference(begun, config)})"


def first_difference(begun: Begun, config: _core.StudyConfig) -> str:
    """The first difference, and the number of further ones; for a store of another fingerprint."""
    before, now = begun.configuration, json.loads(config.configuration)
    changed = [row for row in settings_that_differ(before, now) if _tells_apart(row[0]) and not _only_newer(*row)]
    changed = [row for row in changed if row[0] != _MODE] or changed  # which may only follow from other differences
    first = _difference(*changed[0]) if changed else "its space, evaluator, optimizer or seed differ"
    more = f", and {len(changed) - 1} more" if len(changed) > 1 else ""
    return f"{first}{more}"


_MODE = "optimizer.generational"


def _difference(place: str, there: str, here: str) -> str:
    if "–" in (there, here):
        return f"{_setting(place).rstrip(':')} is only {'here' if there == '–' else 'there'}"
    return f"{_setting(place)} {there.removesuffix('.0')} there, {here.removesuffix('.0')} here"


def _tells_apart(place: str) -> bool:
    """Whether the setting is part of a study's fingerprint."""
    table, _, key = place.partition(".")
    if place in {"optimizer.agreement", "optimizer.searches"}:  # only end the search
        return False
    if table == "evaluator":
        setting = ProgramEvaluator.settings().get(key.partition(".")[0])
        return setting is not None and setting.decides
    return table in {
        "space",
        "constraints",
        "starts",
        "objectives",
        "limits",
        "derived",
        "residuals",
        "optimizer",
        "seed",
    }


def _only_newer(place: str, there: str, here: str) -> bool:
    """Whether one of two stores has a key at its default, and the other was made before the key existed."""
    table, _, key = place.partition(".")
    field = ProgramEvaluator.model_fields.get(key) if table == "evaluator" else None
    given = {there, here} - {"–"}
    return field is not None and "–" in (there, here) and given == {_said(field.default)}


def _setting(place: str) -> str:
    table, *keys = place.split(".", 2)
    if table == "space" and keys:
        return f"parameter {': '.join(keys)}" if len(keys) > 1 else f"parameter {keys[0]}:"
    return " ".join([table, ".".join(keys)]) if keys and keys != ["name"] else table


Rows = list[tuple[str, str, str]]
_NOT_SETTINGS = ("folder", "name", "machine", "store")


def settings_that_differ(a: dict[str, Any], b: dict[str, Any]) -> Rows:
    """``differences``, between configurations as stores keep them."""
    return list(_differences(_settings(a), _settings(b), ""))


def _settings(configuration: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in configuration.items() if key not in _NOT_SETTINGS}


def _differences(a: Any, b: Any, place: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(a, dict) and isinstance(b, dict):
        for key in dict.fromkeys([*a, *b]):
            yield from _differences(a.get(key), b.get(key), f"{place}.{key}" if place else str(key))
    elif a != b:
        yield place, _said(a), _said(b)


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} = {_said(inner)}" for key, inner in value.items())
    return "–" if value is None else str(value)
