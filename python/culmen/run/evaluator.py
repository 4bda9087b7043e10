"""From an [evaluator] table to the engine's specification."""

import json
import os
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from .. import _core
from .._core import InputError
from ..base import digest
from ..base.text import did_you_mean
from ..study_file import CommandOptions, EvaluatorTable, Mistakes, is_source

_LARGEST_LINKED_BYTES = 256 << 20


def evaluator_of(table: EvaluatorTable, folder: Path, heading: str, mistakes: Mistakes) -> _core.EvaluatorSpec:
    """``folder``: relative paths start there. ``mistakes`` gets the mistakes about missing files, each with the
    ``heading`` in front. If the kind is ``function``, the program sets the function later."""
    spec = _core.EvaluatorSpec()
    spec.kind = "python" if table.kind == "function" else table.kind
    spec.base_folder = str(folder)
    if spec.kind == "python":
        spec.interpreter = sys.executable
    table.apply("evaluator", spec)
    for name in table.data:
        with mistakes.at(heading, "evaluator", "data"):
            _existing(name, folder, "data", folders=True)
    if table.command is not None:
        _set_command(spec, table.command, table, folder, heading, mistakes)
    elif table.kind != "function":
        where, function = table.target
        is_file = table.kind == "library" or where.endswith(".py")
        with mistakes.at(heading, "evaluator", table.kind):
            spec.target = f"{_existing(where, folder, table.kind) if is_file else where}:{function}"
    return spec


def _set_command(
    spec: _core.EvaluatorSpec,
    command: list[str],
    options: CommandOptions,
    folder: Path,
    heading: str,
    mistakes: Mistakes,
) -> None:
    spec.json_stdin = options.stdin == "json"
    with mistakes.at(heading, "evaluator", "command"):
        spec.command = [_program(_placed(command[0], folder), folder), *(_placed(word, folder) for word in command[1:])]
    spec.environment = {
        name: None if value is None else _placed(value, folder) for name, value in options.environment.items()
    }
    for name in options.templates:
        with mistakes.at(heading, "evaluator", "templates"):
            path = _existing(name, folder, "templates")
            spec.add_template(_name_in(folder, path), _content(path, "templates"))
    for key, names in (("copy", options.inputs.copied), ("link", options.inputs.link)):
        for name in names:
            with mistakes.at(heading, "evaluator", "inputs", key):
                path = _input(name, folder, key)
                spec.add_input(str(path), _name_in(folder, path), key == "link")
    for name, figure in options.figures.items():
        pattern = figure.key if figure.key is not None else figure.regex
        spec.add_figure(name, figure.file or "", figure.reading, pattern or "", figure.which == "first")


_FOLDER = "CULMEN_STUDY_FOLDER"
_SIGNS = {">", ">>", "<", "|", "||", "&&", "2>", "2>&1", "&>"}


def _placed(word: str, folder: Path) -> str:
    return word.replace(f"{{{_FOLDER}}}", str(folder)) if f"${{{_FOLDER}}}" not in word else word


def _refuse_words_of_shells(command: list[str], parameters: list[str]) -> None:
    """Refuses shell operators and $variables in words that no shell reads. A shell reads the word after -c."""
    names = "|".join(map(re.escape, parameters))
    variable = re.compile(
        rf"(?P<before>.*=|)\$(?:(?P<a>{names})|{{(?P<b>{names})}})|\$(?:{_FOLDER}|{{{_FOLDER}}})(?P<file>/.*)?"
    )
    for before, word in pairwise(command):
        if re.fullmatch("-[a-z]*c", before):
            continue
        if word in _SIGNS:
            raise InputError(f'command: no shell reads "{word}"; write ["sh", "-c", "a line for a shell"]')
        if found := variable.fullmatch(word):
            name = found["a"] or found["b"]
            instead = f"{found['before']}{{{name}}}" if name else f"{{{_FOLDER}}}{found['file'] or ''}"
            raise InputError(f'command: no shell reads "{word}"; write "{instead}"')


def _input(name: str, folder: Path, key: str) -> Path:
    path = _existing(name, folder, f"inputs.{key}", folders=True)
    if key == "copy" and folder.is_relative_to(path):
        raise InputError(
            f'inputs.copy = "{name}": this folder contains the study; name only the files that the program reads'
        )
    return path


def check_command(space: _core.Space, spec: _core.EvaluatorSpec) -> None:
    """Raises InputError for wrong placeholders, formats and regular expressions, and for words that only a shell would
    understand."""
    if spec.kind == "command":
        _refuse_words_of_shells(spec.command, [p.name for p in space.all])
        _core.check_command(space, spec)


def digest_of(spec: _core.EvaluatorSpec, table: EvaluatorTable, folder: Path, f: Any = None) -> digest.Digest | None:
    """The digest of the evaluator as it is now, with its data files. ``f``: a program's function."""
    found = _digest_of_code(spec, table, folder, f)
    data = digest.of_files(_data_of(spec, table, folder))
    return {**(found or {"of": str(table.named)}), "data": data} if data else found


def _digest_of_code(spec: _core.EvaluatorSpec, table: EvaluatorTable, folder: Path, f: Any) -> digest.Digest | None:
    if table.kind == "function":
        return digest.of_function(f, table.named)
    if spec.kind == "command":
        return digest.of_program(spec.command[0], [folder / name for name in table.templates])
    where = spec.target.rpartition(":")[0]
    return digest.of_script(Path(where), folder) if Path(where).is_file() else digest.of_module(where, folder)


def _data_of(spec: _core.EvaluatorSpec, table: EvaluatorTable, folder: Path) -> dict[str, Path]:
    """The data files, the inputs, and the files in the command, by the names that the user wrote. Linked inputs are
    left out if they are folders or too large to be read at each start."""
    linked = [name for name in table.inputs.link if _is_quickly_read(folder / name)]
    named = {name: folder / name for name in [*table.data, *table.inputs.copied, *linked]}
    words = zip(table.command[1:], spec.command[1:], strict=True) if table.command else ()
    return named | {word: Path(placed) for word, placed in words if placed.startswith("/") and Path(placed).is_file()}


def _is_quickly_read(path: Path) -> bool:
    return path.is_file() and path.stat().st_size <= _LARGEST_LINKED_BYTES


def _content(path: Path, place: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as e:
        raise InputError(f"{place}: {path} cannot be read: {e.strerror}") from None


def _name_in(folder: Path, path: Path) -> str:
    """The relative path of a file in the study's folder; only the name of another file."""
    inside = path.is_relative_to(folder) and path != folder
    return str(path.relative_to(folder)) if inside else path.name


def _program(name: str, folder: Path) -> str:
    """The path of a program. A name without a slash is searched in PATH; other names are relative to the study file's
    folder."""
    words = name.split()
    if len(words) > 1 and not (folder / name).exists() and (folder / words[0]).is_file():
        raise InputError(f'command = ["{name}"]: write each word separately: {json.dumps(words, ensure_ascii=False)}')
    return name if "/" not in name else str(_existing(name, folder, "command").resolve())


def _existing(name: str, folder: Path, place: str, folders: bool = False) -> Path:
    path = Path(os.path.abspath(folder / name))  # noqa: PTH100 - a link keeps its own name
    if not path.is_file() and not (folders and path.is_dir()):
        raise InputError(f'{place} = "{name}": there is no file {path}{_instead_of(path)}')
    return path


def _instead_of(path: Path) -> str:
    """The advice to compile a library first, or the name of a similar file."""
    there = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
    source = next((name for name in there if is_source(name) and Path(name).stem in (path.stem, path.stem[3:])), None)
    if source and path.suffix == ".so":
        return f"; compile it from {source}"
    return did_you_mean(path.name, there)
