"""A program as the function of ``culmen.minimize``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Figure = Mapping[str, str]


class Command:
    """A program that ``culmen.minimize`` runs once for every evaluation, in a folder of its own.

    ``words``: the program and its arguments. ``{name}`` is replaced by a parameter's value (``{name:.6e}``: in that
    format), and ``{CULMEN_STUDY_FOLDER}`` by ``folder``. The parameters are also environment variables.
    ``templates``: files that are copied into the folder, with each ``{{name}}`` replaced by the parameter's value.
    ``copy``, ``link``: files that are copied or linked into the folder.
    ``stdin="json"``: the program reads the parameters as one JSON object.
    ``value``: where the value is found, if it is not the last word that the program prints: {"file": …},
    {"key": …} (JSON), {"regex": …, "which": "first"}, or a file and one of these. ``residuals``: the same for
    residuals. ``values``: the same for extra values, by name.
    ``keep``: which evaluations' folders are kept beside the store: "all", "failures" or "none". Without a store none is
    kept.
    ``folder``: relative paths start here; by default in the current folder.
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
