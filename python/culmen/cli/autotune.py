"""``culmen autotune``."""

from pathlib import Path
from typing import Annotated

import typer

from . import work
from .arguments import MpiOfCommand


def autotune(
    context: typer.Context,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", metavar="FILE", help="Tuning file to write. Default: autotune-1.tuning, autotune-2.tuning, …"
        ),
    ] = None,
    load: Annotated[
        Path | None,
        typer.Option(
            "--load",
            metavar="FILE",
            help="Use the algorithms of this tuning file from the first call on, and try no other algorithms.",
        ),
    ] = None,
    validate: Annotated[
        int | None,
        typer.Option(
            "--validate",
            metavar="N",
            min=3,
            show_default=False,
            help="Run the program N times without the tuner, N times with the tuner, and N times with the tuning file.",
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            min=0.01,
            show_default=False,
            help="With --validate: longest time of a run. Default: 10 times the duration of the first run, plus 60 s.",
        ),
    ] = None,
    collectives: Annotated[
        str | None,
        typer.Option("--collectives", metavar="NAME,…", help="Tune only these collectives, for example bcast,reduce."),
    ] = None,
    communicators: Annotated[
        str | None,
        typer.Option(
            "--communicators",
            metavar="NAME,…",
            help="Tune only these communicators, by their names in `culmen profile`, for example world,world/split*.",
        ),
    ] = None,
    min_bytes: Annotated[
        str | None, typer.Option("--min-bytes", metavar="SIZE", help="Tune only messages of at least this size.")
    ] = None,
    max_bytes: Annotated[
        str | None, typer.Option("--max-bytes", metavar="SIZE", help="Tune only messages of at most this size.")
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(
            "--repetitions",
            metavar="N",
            min=1,
            max=16,
            help="Mean number of calls in which culmen tries each algorithm. Default: 3.",
        ),
    ] = None,
    warm_up: Annotated[
        int | None,
        typer.Option(
            "--warm-up",
            metavar="N",
            min=0,
            max=1_000_000,
            help="Number of calls before culmen tries the first algorithm. Default: 1.",
        ),
    ] = None,
    recheck: Annotated[
        int | None,
        typer.Option(
            "--recheck",
            metavar="N",
            min=0,
            max=500_000_000,
            help="Check the choice again after N calls, then after 4 N further calls, then after 16 N further calls, "
            "and so on. With 0, culmen makes no checks. Default: 500.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="Largest memory for the tuner in each process. Default: 64M.",
        ),
    ] = None,
    reproducible: Annotated[
        bool,
        typer.Option(
            "--reproducible",
            help="Do not tune reductions, because the results of different algorithms can have different rounding "
            "errors.",
        ),
    ] = False,
    one_thread: Annotated[
        bool,
        typer.Option(
            "--one-thread",
            help="Tune a program that asks for MPI_THREAD_MULTIPLE as if the program did not ask for it. Use this "
            "option only if two threads never call MPI at the same time.",
        ),
    ] = False,
    same_types: Annotated[
        bool,
        typer.Option(
            "--same-types",
            help="Also try algorithms of Open MPI that work only if all ranks call MPI_Bcast with the same count and "
            "datatype.",
        ),
    ] = False,
    one_request: Annotated[
        bool,
        typer.Option(
            "--one-request",
            help="Also tune nonblocking collectives on communicators on which the program calls no blocking "
            "collective. Use this option only if each rank completes a nonblocking collective before it starts the "
            "next nonblocking collective of the same kind.",
        ),
    ] = False,
    mpi: MpiOfCommand = None,
) -> None:
    given: dict[str, object] = {
        "COLLECTIVES": collectives,
        "COMMUNICATORS": communicators,
        "MIN_BYTES": min_bytes,
        "MAX_BYTES": max_bytes,
        "MEMORY": memory,
        "REPETITIONS": repetitions,
        "WARMUP": warm_up,
        "RECHECK": recheck,
        "REPRODUCIBLE": reproducible or None,
        "ONE_THREAD": one_thread or None,
        "SAME_TYPES": same_types or None,
        "ONE_REQUEST": one_request or None,
    }
    settings = {name: value for name, value in given.items() if value is not None}
    raise typer.Exit(work.autotune.run(list(context.args), settings, output, load, validate, time_limit, mpi))
