"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from . import completion

Workers = Annotated[
    int | None,
    typer.Option(min=1, max=65_536, help="Evaluations at a time; default: the study file's, else one per CPU."),
]
Evaluations = Annotated[
    int | None, typer.Option(min=1, max=2**63 - 1, help="Evaluations in all, instead of the study's own limit.")
]
Target = Annotated[float | None, typer.Option(help="A value that is good enough, instead of the study's own.")]
Stagnation = Annotated[
    int | None,
    typer.Option(min=1, max=2**63 - 1, help="Evaluations without an improvement, instead of the study's own."),
]
WallTime = Annotated[
    float | None,
    typer.Option("--wall-time", min=0, metavar="SECONDS", help="Seconds of this start, instead of the study's own."),
]
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
