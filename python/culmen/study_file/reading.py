"""From a file to its tables."""

import re
import shlex
import sys
from pathlib import Path

from .._core import InputError
from .file import StudyFile
from .messages import checked, did_you_mean

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_STORE = b"SQLite format 3\0"


def read_study_file(path: Path) -> StudyFile:
    """Raises InputError with one sentence a line, one for each mistake: file, place, value, what is allowed."""
    try:
        text = path.read_bytes()
        if text.startswith(_STORE):
            raise InputError(
                f"{path} is a store, not a study file; `culmen resume {shlex.quote(str(path))}` goes on with its study"
            )
        data = tomllib.loads(text.decode("utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"there is no study file {path}{near_file(path, '.toml')}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; a study file is wanted{_one_in(path)}") from None
    except OSError as e:
        raise InputError(f"the study file {path} cannot be read: {e.strerror}") from None
    except UnicodeDecodeError as e:
        raise InputError(f"{path}: not a text in UTF-8 (byte {e.start}), so it cannot be a study file") from None
    except tomllib.TOMLDecodeError as e:
        raise InputError(_no_toml(path, text.decode("utf-8-sig"), str(e))) from None
    return checked(StudyFile, {"name": path.stem, **data}, str(path))


def near_file(path: Path, ending: str) -> str:
    """'; did you mean …?' where its folder holds one of that ending with nearly that name."""
    names = [found.name for found in path.parent.glob(f"*{ending}")]
    whole = path.name + ending
    return f"; did you mean '{whole}'?" if whole in names else did_you_mean(path.name, names)


def _one_in(folder: Path) -> str:
    files = sorted(folder.glob("*.toml"))
    return f", such as {files[0]}" if files else "; `culmen init` writes one"


def _no_toml(path: Path, text: str, why: str) -> str:
    """Another kind of file is called by its name; else the line that is wrong is shown."""
    if path.suffix == ".py":
        return (
            f'{path} is a Python file; a study file is wanted, whose [evaluator] says python = "{path.name}:FUNCTION" '
            f"(`culmen init` writes one)"
        )
    other = "JSON" if text.lstrip().startswith("{") else {".yaml": "YAML", ".yml": "YAML"}.get(path.suffix)
    if other:
        return f"{path} is {other}; a study file is TOML (`culmen init` writes one)"
    place, lines = re.search(r"at line (\d+)", why), text.splitlines()
    line = lines[int(place[1]) - 1].strip() if place and 0 < int(place[1]) <= len(lines) else ""
    return f"{path}: not valid TOML: {why}" + (f": {line:.80}" if line else "")
