"""A program as the function of ``culmen.minimize``."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .._core import InputError

Figure = Mapping[str, str]


class Command:
    """A program as the evaluator of ``culmen.minimize``. Each evaluation runs the program in a new folder.

    - ``words``: the program and its arguments. In an argument, ``{name}`` stands for the value of a parameter. The
      parameters are also environment variables of the program.
    - ``templates``: input files in which ``{{name}}`` stands for a parameter. culmen writes them into the new folder.
    - ``copy``, ``link``: files to copy or to link into the new folder.
    - ``stdin="json"``: the program receives the parameters as one JSON object on standard input.
    - ``value``: where culmen finds the value: ``{"file": …}``, ``{"key": …}`` (in JSON) or ``{"regex": …}``. A file can
      be combined with a key or a regex. Default: the last word that the program prints.
    - ``residuals``: where culmen finds the residuals, in the same form.
    - ``values``: where culmen finds extra values: a dict of such forms by name.
    - ``keep``: decides which folders of evaluations are kept next to the store: "all" (except empty folders),
      "failures" (the folders of failed evaluations) or "none".
    - ``folder``: the paths in the other arguments are relative to this folder. Default: the current folder.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        templates: Sequence[str] = (),
        copy: Sequence[str] = (),
        link: Sequence[str] = (),
        stdin: str | None = None,
        value: Figure | None = None,
        residuals: Figure | None = None,
        values: Mapping[str, Figure] | None = None,
        keep: str = "all",
        folder: str | Path | None = None,
    ) -> None:
        self.words = _checked(words)
        self.folder = Path(folder or ".").resolve()
        given = {"stdin": stdin, "value": value, "residuals": residuals, "values": values}
        self.options: dict[str, Any] = {name: thing for name, thing in given.items() if thing is not None}
        self.options |= {"templates": list(templates), "keep": keep}
        self.options["inputs"] = {"copy": list(copy), "link": list(link)}
        self.__name__ = Path(self.words[0]).name if self.words else "command"

    def __repr__(self) -> str:
        return f"culmen.Command({self.words!r})"


def _checked(given: object) -> list[str]:
    if isinstance(given, str):
        raise InputError(f"Command: words must be a list of strings, got {given!r:.80}; write {_split(given)!r:.80}")
    if not isinstance(given, Iterable) or isinstance(given, (bytes, Mapping)) or getattr(given, "ndim", 1) == 0:
        raise InputError(f'Command: words must be a list of strings such as ["./model.sh", "{{x}}"], got {given!r:.80}')
    words = [str(word) for word in given]
    if why := wrong_words(words):
        raise InputError(f"Command: {why}")
    return words


def wrong_words(words: Iterable[str]) -> str:
    """Why no program can receive these words; else empty."""
    for word in words:
        if "\0" in word:
            return f"the word {word!r:.80} contains a null character; remove it"
    return ""


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text) or ["./model.sh"]
    except ValueError:  # an open quote
        return text.split()
