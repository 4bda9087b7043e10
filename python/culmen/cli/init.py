"""``culmen init``."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from . import work


def init(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Name of the study file, without .toml.")] = Path(
        "study"
    ),
    kind: Annotated[
        Literal["python", "library", "command"],
        typer.Option(help="Kind of evaluator: a Python function, a C function, or a program."),
    ] = "python",
    tune: Annotated[
        bool,
        typer.Option("--tune", help="Write another example, for `culmen tune command`: a file and a small program."),
    ] = False,
) -> None:
    if tune:
        work.init.init_tuning(name)
    else:
        work.init.init_study(name, kind)
