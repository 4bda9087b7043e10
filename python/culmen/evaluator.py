"""From what is said of an evaluator to what workers need."""

import os
import sys
from pathlib import Path

from . import _core, digest
from ._core import InputError
from .study_file import CommandOptions, EvaluatorTable, did_you_mean, is_source


def evaluator_of(table: EvaluatorTable, folder: Path, place: str) -> _core.EvaluatorSpec:
    """``folder`` is where relative paths begin. A ``function`` is a program's, which has to give it.

    Raises InputError, beginning with ``place``, where a file is missing.
    """
    spec = _core.EvaluatorSpec()
    spec.kind = "python" if table.kind == "function" else table.kind
    spec.isolation, spec.base_folder = table.isolation, str(folder)
    spec.result, spec.output, spec.interpreter = table.result, table.output, sys.executable
    spec.time_limit_s, spec.batch = table.time_limit_s or 0, table.batch or 0
    spec.environment, spec.modules = table.environment, table.modules
    if table.command is not None:
        _set_command(spec, table.command, table, folder, place)
    elif table.kind != "function":
        where, function = table.target
        is_file = table.kind == "library" or where.endswith(".py")
        spec.target = f"{_existing(where, folder, f'{place}{table.kind}') if is_file else where}:{function}"
    return spec


def _set_command(
    spec: _core.EvaluatorSpec, command: list[str], options: CommandOptions, folder: Path, place: str
) -> None:
    spec.command = [_program(command[0], folder, f"{place}command"), *command[1:]]
    spec.keep, spec.json_stdin = options.keep, options.stdin == "json"
    for name in options.templates:
        path = _existing(name, folder, f"{place}templates")
        spec.add_template(_name_in(folder, path), _content(path, f"{place}templates"))
    for name in options.inputs.copied:
        path = _existing(name, folder, f"{place}inputs.copy", folders=True)
        if folder.is_relative_to(path):
            raise InputError(f'{place}inputs.copy = "{name}": it holds the study itself; name what the program reads')
        spec.add_input(str(path), _name_in(folder, path), False)
    for name in options.inputs.link:
        path = _existing(name, folder, f"{place}inputs.link", folders=True)
        spec.add_input(str(path), _name_in(folder, path), True)
    for name, figure in options.figures.items():
        pattern = figure.key if figure.key is not None else figure.regex
        spec.add_figure(name, figure.file or "", figure.reading, pattern or "", figure.which == "first")


def check_command(space: _core.Space, spec: _core.EvaluatorSpec, place: str) -> None:
    """Raises InputError for places of parameters, formats and regular expressions that are wrong."""
    if spec.kind != "command":
        return
    try:
        _core.check_command(space, spec)
    except InputError as e:
        raise InputError(f"{place}{e}") from None


def digest_of(spec: _core.EvaluatorSpec, table: CommandOptions, folder: Path) -> digest.Digest | None:
    if spec.kind == "command":
        return digest.of_program(spec.command[0], [folder / name for name in table.templates])
    where = spec.target.rpartition(":")[0]
    return digest.of_file(Path(where)) if Path(where).is_file() else digest.of_module(where, folder)


def _content(path: Path, place: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as e:
        raise InputError(f"{place}: {path} cannot be read: {e.strerror}") from None


def _name_in(folder: Path, path: Path) -> str:
    """What is in the study's folder keeps its place there; the rest its name alone."""
    inside = path.is_relative_to(folder) and path != folder
    return str(path.relative_to(folder)) if inside else path.name


def _program(name: str, folder: Path, place: str) -> str:
    """A name without a slash is looked up in PATH; others begin at the study file's folder."""
    return name if "/" not in name else str(_existing(name, folder, place).resolve())


def _existing(name: str, folder: Path, place: str, folders: bool = False) -> Path:
    path = Path(os.path.abspath(folder / name))  # noqa: PTH100 - a link stands under its own name
    if not path.is_file() and not (folders and path.is_dir()):
        raise InputError(f'{place} = "{name}": there is no file {path}{_instead_of(path)}')
    return path


def _instead_of(path: Path) -> str:
    """A library that was not made yet, or another file whose name is near."""
    there = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
    source = next((name for name in there if is_source(name) and Path(name).stem in (path.stem, path.stem[3:])), None)
    if source and path.suffix == ".so":
        return f"; it is still to be made of {source}"
    return did_you_mean(path.name, there)
