"""``{folder}`` in the words of a command, and where the program writes without it."""

import re
from difflib import get_close_matches
from pathlib import Path

from ..._core import InputError
from .applied import FOLDER
from .file_system import kind_of

_NAME = re.compile(r"(?<!\$)\{([A-Za-z_]+)\}")
_LEAST_SIMILAR = 0.8  # {order} may be a word of the program, and {foldr} is a mistake


def check_folder(words: list[str], folder: Path) -> None:
    """Raises InputError for words such as {foldr}, and for a folder that no word uses."""
    for word in words:
        for name in _NAME.findall(word):
            if f"{{{name}}}" != FOLDER and get_close_matches(name.lower(), [FOLDER[1:-1]], cutoff=_LEAST_SIMILAR):
                raise InputError(f"the word '{word}' contains {{{name}}}; did you mean {FOLDER}?")
    if folder != Path() and not _is_in(words):
        raise InputError(
            f"--folder {folder} has no effect, because the command does not contain {FOLDER}; write {FOLDER} for the "
            "folder of the program's files, or leave out --folder"
        )


def where_files_are(words: list[str], folder: Path) -> tuple[str, bool]:
    """A sentence, and whether no run can overwrite files of the user."""
    if _is_in(words):
        return f"The files are in {folder} ({kind_of(folder)}).", True
    return (
        f"Each run writes its files where the program always writes them, because the command has no {FOLDER}: it may "
        "overwrite your files.",
        False,
    )


def _is_in(words: list[str]) -> bool:
    return any(FOLDER in word for word in words)
