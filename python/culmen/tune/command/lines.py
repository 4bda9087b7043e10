"""The shell commands that build and run a program with recommended settings."""

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from ...problem.given import Value
from ...study_file.evaluator import InputsTable
from . import measured
from .recipe import STUDY_FOLDER, constants_of
from .tables import RecipeFile

_PLACE = re.compile(r"(?<!\$)\{\s*(\w+)\s*(?::([^{}]*?)\s*)?\}")
_OURS, _OF_PARAMETERS = "CULMEN_", "CULMEN_PARAM_"  # how names of variables begin
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)  # of a variable in a shell


def lines_of(recipe: RecipeFile, settings: Mapping[str, Value], folder: Path, build: Path) -> list[str]:
    """``folder``: the folder of the recipe. ``build``: the folder in which the lines build the program. All paths in
    the lines are absolute.

    Empty if shell commands cannot express all settings. Examples are settings in templates or on standard input,
    inactive settings in words, and commands that a function makes. Also empty if the program needs the files of
    ``inputs``, or if a shell does not allow the name of a parameter as a variable.
    """
    evaluator = recipe.evaluator
    if recipe.tune.expand or evaluator.templates or evaluator.stdin or evaluator.command is None:
        return []
    if evaluator.inputs != InputsTable() or not all(map(_NAME.fullmatch, recipe.space)):
        return []
    fixed = {name: table.value for name, table in recipe.space.items() if table.value is not None}
    try:
        return _Lines(recipe, {**fixed, **settings}, folder, build).all()
    except (LookupError, ValueError):
        return []


class _Lines:
    def __init__(self, recipe: RecipeFile, values: Mapping[str, Value], folder: Path, build: Path) -> None:
        self._recipe, self._values, self._folder, self._build = recipe, values, folder, build
        self._used: set[str] = set()

    def all(self) -> list[str]:
        lines = [] if self._recipe.build is None else [self._building()]
        return [*lines, self._running()]

    def _building(self) -> str:
        table = self._recipe.build
        assert table is not None
        constant = self._given(constants_of(self._recipe))
        words = " ".join([*_setting(constant), shlex.join(map(self._filled, table.command))])
        place = shlex.quote(str(self._build))
        sources = shlex.join(str((self._folder / source).resolve()) for source in table.sources)
        copy = f" && cp -r {sources} {place}" if sources else ""
        return f"{self._loading()}mkdir -p {place}{copy} && (cd {place} && {words})"

    def _running(self) -> str:
        evaluator = self._recipe.evaluator
        assert evaluator.command is not None
        self._used.clear()  # a build has words of its own
        loading = self._loading()
        program, *others = map(self._filled, evaluator.command)
        if "/" in program and not evaluator.command[0].startswith("{"):
            program = str(self._folder / program)
        given = self._given(evaluator.environment)
        variables = {**self._of_parameters(), **given}
        return loading + " ".join([*_setting(variables), shlex.join([program, *others])])

    def _given(self, variables: Mapping[str, str | None]) -> dict[str, str | None]:
        return {name: None if text is None else self._filled(text) for name, text in variables.items()}

    def _of_parameters(self) -> dict[str, str]:
        """The variables by which a run of the tuning gets its settings, as in command_protocol.cpp. A setting that is
        in the words needs them only if libraries may read it: names in capitals are for them."""
        found = {}
        for name, value in self._values.items():
            if name not in self._used:
                found[_OF_PARAMETERS + name.upper()] = _text(value)
            if (name.isupper() or name not in self._used) and not name.startswith(_OURS) and name not in os.environ:
                found[name] = _text(value)
        return found

    def _loading(self) -> str:
        modules = [name for text in self._recipe.evaluator.modules for name in self._filled(text).split()]
        return f"module load {shlex.join(modules)} && " if modules else ""

    def _filled(self, text: str) -> str:
        """Raises LookupError if a setting is inactive, and ValueError if Python does not know its format."""
        whole = text.replace(measured.BUILD, str(self._build)).replace(STUDY_FOLDER, str(self._folder))
        return _PLACE.sub(self._value, whole)

    def _value(self, place: re.Match[str]) -> str:
        name, form = place[1], place[2]
        if name not in self._recipe.space:
            return place[0]
        self._used.add(name)
        return format(self._values[name], form) if form else _text(self._values[name])


def _setting(variables: Mapping[str, str | None]) -> list[str]:
    """The words before a command that set these variables. None: they remove this one."""
    written = [f"{name}={shlex.quote(text)}" for name, text in variables.items() if text is not None]
    removed = [f"-u {name}" for name, text in variables.items() if text is None]
    return ["env", *removed, *written] if removed else written


def _text(value: Value) -> str:
    """The value as culmen writes it into words of a command."""
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value).lower() if isinstance(value, bool) else str(value)
