"""From a file to its tables."""

import contextlib
import json
import re
import shlex
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from .._core import InputError
from ..base.text import near_file
from ..base.toml import tomllib
from .file import StudyFile
from .messages import sentences
from .mistakes import Mistakes

_WRITTEN = "(create one with `culmen init`)"
_SAID = "a study file names it, with this line in [evaluator]:"
_INIT = "; create one with `culmen init`"
_OF_TUNING = ("tune", "build", "job")
_STORE = b"SQLite format 3\0"


def read_study_file(path: Path) -> StudyFile:
    """Raises InputError with one line for each mistake: file, place, value, and what is allowed."""
    file, mistakes = examine_study_file(path)
    mistakes.raise_any()
    assert file is not None
    return file


def examine_study_file(path: Path) -> tuple[StudyFile | None, Mistakes]:
    """The usable part of the file (None: there is none), and the mistakes so far.

    Raises InputError if it is not a study file."""
    text = _text_of(path)
    try:
        return _examined(path, text)
    except tomllib.TOMLDecodeError as e:
        raise InputError(_no_toml(path, text, str(e))) from None
    except RecursionError:
        raise InputError(f"{path} is not a study file: its tables or lists nest too deeply") from None


def _examined(path: Path, text: str) -> tuple[StudyFile | None, Mistakes]:
    data = tomllib.loads(text)
    if any(isinstance(data.get(table), dict) for table in _OF_TUNING):
        raise InputError(
            f"{path} is a tuning file, not a study file; write `culmen tune command {shlex.quote(str(path))}`"
        )
    data, mistakes = {"name": path.stem, **data}, Mistakes(str(path), text)
    try:
        return StudyFile.model_validate(data), mistakes
    except ValidationError as e:
        for place, sentence in sentences(e, StudyFile):
            mistakes.add(place, sentence)
        return _rest_of(data, e), mistakes


def _text_of(path: Path) -> str:
    try:
        content = path.read_bytes()
        if content.startswith(_STORE):
            raise InputError(
                f"{path} is a store, not a study file; to resume it, write `culmen resume {shlex.quote(str(path))}`"
            )
        return content.decode("utf-8-sig")
    except FileNotFoundError:
        if ".py:" in path.name:
            raise InputError(f'{path} is a function, not a study file; {_SAID} python = "{path}" {_WRITTEN}') from None
        raise InputError(f"there is no study file {path}{near_file(path, '.toml') or _INIT}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; give a study file{_one_in(path)}") from None
    except OSError as e:
        raise InputError(f"the study file {path} cannot be read: {e.strerror}") from None
    except UnicodeDecodeError as e:
        raise InputError(f"{path} is not a study file: it is not a text in UTF-8 (byte {e.start})") from None


def _rest_of(data: dict[str, Any], error: ValidationError) -> StudyFile | None:
    """The file without its wrong parts, so that the rest can be checked. Required tables get made-up values."""
    places = [e["loc"] for e in error.errors(include_url=False) if e["loc"]]
    wrong = {place[0] for place in places}
    rest = {key: value for key, value in data.items() if key not in wrong}
    if "space" in wrong:
        names = {place[1] for place in places if place[0] == "space" and len(place) > 1}
        given = data.get("space")
        right = {name: p for name, p in given.items() if name not in names} if isinstance(given, dict) else {}
        rest["space"] = right or {"x": {"lower": 0, "upper": 1}}
    made_up: dict[str, Any] = {"name": "study", "evaluator": {"python": "math:sqrt"}}
    if "stop" in wrong:
        made_up["stop"] = {"evaluations": 1}
    with contextlib.suppress(ValidationError):
        return StudyFile.model_validate({**made_up, **rest})
    return None


def _one_in(folder: Path) -> str:
    files = sorted(folder.glob("*.toml"))
    return f", such as {files[0]}" if files else _INIT


def _no_toml(path: Path, text: str, why: str) -> str:
    """Names another kind of file; for TOML it shows the wrong line."""
    if path.suffix == ".py":
        return f'{path} is a Python file, not a study file; {_SAID} python = "{path.name}:FUNCTION" {_WRITTEN}'
    other = "JSON" if text.lstrip().startswith("{") else {".yaml": "YAML", ".yml": "YAML"}.get(path.suffix)
    if other:
        return f"{path} is {other}, but a study file is TOML {_WRITTEN}"
    place, lines = re.search(r"at line (\d+), column (\d+)", why), text.splitlines()
    line = lines[int(place[1]) - 1] if place and 0 < int(place[1]) <= len(lines) else ""
    hint = _right_value(line, int(place[2]) - 1) if place and "Invalid value" in why else _right_sign(line)
    return f"{path} is not valid TOML: {why}" + (f": {line.strip():.80}" if line.strip() else "") + hint


def _right_sign(line: str) -> str:
    """Advice for a line with the colon of YAML and JSON; otherwise empty."""
    key = re.match(r"\s*([\"']?)([\w-]+)\1\s*:", line)
    return f"; a study file is TOML: write {key[2]} = … instead of {key[2]}: …" if key else ""


def _right_value(line: str, at: int) -> str:
    """The right form of the value that begins there; empty: it is not clear."""
    if number := re.match(r"([+-]?)(\.\d[\deE+_-]*)", line[at:]):
        return f"; a number must begin with a digit; write {number[1]}0{number[2]}"
    word = line[at:].strip().rstrip(",}] ")
    if word in ("True", "False"):
        return f"; write {word.lower()} in small letters"
    if word in ("None", "null", "nil"):
        return "; remove the line: a key that is left out has its default"
    if bare := re.fullmatch(r"([\w.-]+)\s*=\s*([^\s\"'#\[{][^\"'#]*)", line.strip()):
        return f"; a string needs quotes; write {bare[1]} = {json.dumps(bare[2].strip())}"
    return ""
