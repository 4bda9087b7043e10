"""Where figures stand in what a command wrote: ``value``, ``residuals``, ``[evaluator.values]``."""

from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import model_validator

from .table import Setting, Table


class FigureTable(Table):
    file: Annotated[str | None, Setting("a file in the folder of the evaluation", default="standard output")] = None
    key: Annotated[str | None, Setting("the key of the figure in JSON")] = None
    regex: Annotated[str | None, Setting("a regular expression that finds the figure in the text")] = None
    which: Annotated[
        Literal["last", "first"] | None, Setting("which match of the regular expression counts", default='"last"')
    ] = None

    @model_validator(mode="after")
    def _is_one_way(self) -> "FigureTable":
        if self.key is not None and self.regex is not None:
            raise ValueError("key (JSON) and regex (any text) exclude each other")
        if self.which is not None and self.regex is None:
            raise ValueError(f'which = "{self.which}" says which match of a regex is meant, and there is no regex')
        if self.file is not None:
            check_inside(self.file)
        return self

    @property
    def reading(self) -> str:
        """The word for it in the core."""
        return "json" if self.key is not None else "regex" if self.regex is not None else "last_word"


def check_inside(name: str) -> None:
    """Raises ValueError for what is no path within the evaluation's folder."""
    path = PurePosixPath(name)
    if not path.name or path.is_absolute() or ".." in path.parts:
        raise ValueError(f'"{name}": a path within the evaluation\'s own folder, such as "result.dat", is wanted')
