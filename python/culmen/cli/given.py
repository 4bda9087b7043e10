"""Commands whose options come from a table."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from .settings import SETTINGS


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Replaces the command's argument ``given``, a dict of settings, by one option for each setting. None: not
    given."""
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        options = [parameter.replace(name=name, default=None, annotation=kind) for name, kind in SETTINGS.items()]
        parameters += options if parameter.name == "given" else [parameter]

    @wraps(command)
    def call(**said: Any) -> None:
        given = {name: said.pop(name) for name in SETTINGS}
        command(given=given, **said)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call
