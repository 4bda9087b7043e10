"""From a file to its tables."""

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
        data = tomllib.loads(text.decode())
    except FileNotFoundError:
        near = did_you_mean(path.name, [p.name for p in path.parent.glob("*.toml")])
        raise InputError(f"there is no study file {path}{near}") from None
    except OSError as e:
        raise InputError(f"the study file {path} cannot be read: {e.strerror}") from None
    except UnicodeDecodeError as e:
        raise InputError(f"{path}: not a text in UTF-8 (byte {e.start}), so it cannot be a study file") from None
    except tomllib.TOMLDecodeError as e:
        raise InputError(f"{path}: not valid TOML: {e}") from None
    return checked(StudyFile, {"name": path.stem, **data}, str(path))
