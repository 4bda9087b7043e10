"""``culmen worker``."""

from pathlib import Path
from typing import Annotated

import typer

from . import completion, work
from .arguments import Quiet, fixed_values


def worker(
    address: Annotated[
        str,
        typer.Argument(metavar="ADDRESS", help="The address of the run, such as wss://HOST:7443."),
    ],
    study: Annotated[
        Path,
        typer.Option(
            "--study",
            metavar="STUDY.toml",
            help="The study file. The workers evaluate only this study.",
            autocompletion=completion.study_files,
        ),
    ],
    fix: Annotated[
        list[str] | None,
        typer.Option("--fix", metavar="NAME=VALUE", help="Give the same --fix options as for the run."),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", metavar="FILE", help="The file that contains the token of the run.")
    ] = None,
    fingerprint: Annotated[
        str | None,
        typer.Option(
            "--fingerprint",
            metavar="HEX",
            help="Only for wss: the fingerprint of the certificate of the run. The run prints this fingerprint. "
            "Without this option, this machine must trust the authority that signed the certificate.",
        ),
    ] = None,
    slots: Annotated[
        int | None,
        typer.Option(
            "--slots",
            min=1,
            max=65_536,
            metavar="N",
            help="Number of workers. Default: the number of CPUs.",
        ),
    ] = None,
    patience_s: Annotated[
        float,
        typer.Option(
            "--patience",
            min=0,
            max=1e6,
            metavar="SECONDS",
            show_default=False,
            help="How long a worker tries to connect to the run, at the start and after it has lost the connection. "
            "Default: 60.",
        ),
    ] = 60,
    quiet: Quiet = False,
) -> None:
    raise typer.Exit(
        work.worker.work_for(address, study, fixed_values(fix), token_file, fingerprint, slots, patience_s, quiet)
    )
