"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from . import completion

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors and warnings only.")]
NoPrefetch = Annotated[
    bool, typer.Option("--no-prefetch", help="Send a worker its next candidate only when it has answered.")
]
NoErrors = Annotated[
    bool, typer.Option("--no-errors", help="Leave out the errors of the parameters at the end of a least-squares fit.")
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace the file whatever it is, but for a store or a study file.")
]
StudyFile = Annotated[
    Path, typer.Argument(metavar="STUDY.toml", help="The study file.", autocompletion=completion.study_files)
]
StoreFile = Annotated[
    Path, typer.Argument(metavar="STUDY.db", help="The study's store.", autocompletion=completion.stores)
]
