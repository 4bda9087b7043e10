"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from .._core import InputError
from ..base.text import ALL
from . import completion

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors and warnings.")]
MpiOfCommand = Annotated[
    str | None,
    typer.Option(
        "--mpi",
        metavar="NAME",
        help="The MPI of the program, as for `culmen launch`. By default, culmen finds it in the command, or in the "
        "scripts that the command names.",
    ),
]
NoPrefetch = Annotated[
    bool,
    typer.Option(
        "--no-prefetch", help="A worker receives its next candidate only after it has returned its previous result."
    ),
]
NoErrors = Annotated[
    bool,
    typer.Option(
        "--no-errors", help="Do not compute the errors (uncertainties) of the parameters after a least-squares fit."
    ),
]
AcceptChanges = Annotated[
    bool,
    typer.Option("--accept-changes", help="Continue even if the evaluator or its data have changed."),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace any existing file, except a store or a study file."),
]
Agreement = Annotated[
    int | None,
    typer.Option(
        "--agreement",
        min=0,
        max=1_000_000,
        metavar="N",
        help="Only for the optimizer lm: the study ends when one local search has found the best point, and N further "
        "local searches have found this point again. 0 turns off this rule, and also the three rules that hold if "
        "you do not set agreement. Default: as in the study.",
    ),
]
Searches = Annotated[
    int | None,
    typer.Option(
        "--searches",
        min=0,
        max=1_000_000,
        metavar="N",
        help="Only for the optimizer lm: the study ends after N local searches. With N = 1, culmen makes only one fit, "
        "from your starting point. 0 turns this rule off. Default: as in the study.",
    ),
]
Fix = Annotated[
    list[str] | None,
    typer.Option(
        "--fix",
        metavar="NAME=VALUE",
        help="Fix a parameter at this value: the optimizer does not vary it. Repeat the option for more parameters.",
    ),
]
Digits = Annotated[
    str | None,
    typer.Option(
        "--digits",
        metavar="N|all",
        help="Show numbers with N significant digits, or with all digits. By default, the number of digits of a "
        "parameter depends on its error.",
    ),
]
StudyFile = Annotated[
    Path, typer.Argument(metavar="STUDY.toml", help="The study file.", autocompletion=completion.study_files)
]
StoreFile = Annotated[
    Path, typer.Argument(metavar="STUDY.db", help="The store of the study.", autocompletion=completion.stores)
]


def fixed_values(options: list[str] | None) -> dict[str, str]:
    """The names and values of ``--fix NAME=VALUE``."""
    out: dict[str, str] = {}
    for option in options or []:
        name, equals, value = option.partition("=")
        name = name.strip()
        if not equals or not name or not value.strip():
            raise InputError(f"--fix {option}: write NAME=VALUE, such as --fix n=5")
        if name in out:
            raise InputError(f"--fix: the parameter '{name}' is given twice")
        out[name] = value.strip()
    return out


def digits_of(text: str | None) -> int | None:
    """The number of ``--digits``."""
    if text is None:
        return None
    if text == "all":
        return ALL
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= ALL:
        raise InputError(f"--digits {text}: it must be a whole number from 1 to {ALL}, or all")
    return int(text)
