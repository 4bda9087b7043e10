"""Commands whose options come from a table."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any

from .._core import InputError
from .jobs import JOB
from .settings import LISTENING, SETTINGS

Given = Mapping[str, Any]  # values of options
NOT_GIVEN: Given = MappingProxyType({})
_TABLES = {"given": SETTINGS, "listening": LISTENING, "job": JOB}


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Replaces the command's arguments ``given``, ``listening`` and ``job``, dicts of settings, by one option for each
    setting. None: not given."""
    parameters: list[inspect.Parameter] = []
    tables: dict[str, dict[str, Any]] = {}
    for parameter in inspect.signature(command).parameters.values():
        if (table := _TABLES.get(parameter.name)) is None:
            parameters.append(parameter)
            continue
        tables[parameter.name] = table
        parameters += [parameter.replace(name=name, default=None, annotation=kind) for name, kind in table.items()]

    @wraps(command)
    def call(**said: Any) -> None:
        given = {which: {name: _once(name, said.pop(name)) for name in table} for which, table in tables.items()}
        command(**given, **said)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _once(name: str, value: Any) -> Any:
    """The value of an option that takes a list only so that a second one is noticed."""
    if not isinstance(value, list):
        return value
    if len(value) > 1:
        raise InputError(f"--{name.replace('_', '-')} is given {len(value)} times; give it once")
    return value[0] if value else None
