"""``culmen init``."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from . import work


def init(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Of the study file to write: NAME.toml.")] = Path(
        "study"
    ),
    kind: Annotated[
        Literal["python", "library", "command"],
        typer.Option(help="Of the evaluator: a Python function, a function in C, a program."),
    ] = "python",
) -> None:
    work.init.init_study(name, kind)
