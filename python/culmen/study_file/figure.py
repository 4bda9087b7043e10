"""Where the output of a command has its figures: ``value``, ``residuals``, ``[evaluator.values]``."""

from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import model_validator

from .table import Setting, Table


class FigureTable(Table):
    file: Annotated[str | None, Setting("a file in the folder of the evaluation", default="standard output")] = None
    key: Annotated[str | None, Setting("the key of the value in JSON")] = None
    regex: Annotated[str | None, Setting("a regular expression that finds the value in the text")] = None
    which: Annotated[
        Literal["last", "first"] | None, Setting("which match of the regular expression counts", default='"last"')
    ] = None

    @model_validator(mode="after")
    def _is_one_way(self) -> "FigureTable":
        if self.key is not None and self.regex is not None:
            raise ValueError("give either key (for JSON) or regex (for any text)")
        if self.which is not None and self.regex is None:
            raise ValueError(f'which = "{self.which}" needs regex, which is missing')
        if self.file is not None:
            check_inside(self.file)
        return self

    @property
    def reading(self) -> str:
        """Its word in C++."""
        return "json" if self.key is not None else "regex" if self.regex is not None else "last_word"


def check_inside(name: str) -> None:
    """Raises ValueError unless the path leads into the folder of the evaluation."""
    path = PurePosixPath(name)
    if not path.name or path.is_absolute() or ".." in path.parts:
        raise ValueError(f'must be a path in the folder of the evaluation, such as "result.dat", got "{name}"')
