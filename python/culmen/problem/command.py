"""A program as the function of ``culmen.minimize``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Figure = Mapping[str, str]


class Command:
    """A program that ``culmen.minimize`` runs once for every evaluation, in a folder of its own.

    ``words``: program and arguments, with ``{name}`` where a parameter's value shall stand (``{name:.6e}``: in that
    format), and ``{CULMEN_STUDY_FOLDER}`` for ``folder``. The parameters are variables of its environment, too.
    ``templates``: files that are written into the folder with values in the places ``{{name}}``.
    ``copy``, ``link``: files that it finds there.
    ``stdin="json"``: the parameters come as one JSON object.
    ``value``: where its value stands, if not in the last word that it prints: {"file": …}, {"key": …} (JSON),
    {"regex": …, "which": "first"}, or a file and one of these. ``residuals``: the same for residuals; ``values``: the
    same for further figures by their names.
    ``keep``: which evaluations' folders stay beside the store: "all", "failures", "none". Without a store all go.
    ``folder``: where relative paths begin; by default the current one.
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
        self.words = [str(word) for word in words]
        self.folder = Path(folder or ".").resolve()
        given = {"stdin": stdin, "value": value, "residuals": residuals, "values": values}
        self.options: dict[str, Any] = {name: thing for name, thing in given.items() if thing is not None}
        self.options |= {"templates": list(templates), "keep": keep}
        self.options["inputs"] = {"copy": list(copy), "link": list(link)}
        self.__name__ = Path(self.words[0]).name if self.words else "command"

    def __repr__(self) -> str:
        return f"culmen.Command({self.words!r})"
