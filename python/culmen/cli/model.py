"""``culmen model``: a group of commands."""

from pathlib import Path
from typing import Annotated

import typer

from . import work

TableFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE.csv",
        help="A table of `culmen bench collectives`, or a table of messages with the columns mapping,size,time_s.",
    ),
]


def fit(
    table: TableFile,
    breaks: Annotated[
        str | None,
        typer.Option(
            "--breaks",
            metavar="N,N,…",
            help="Numbers of ranks at which the slope of a model may change (breaks), for example the number of cores "
            "of a socket. culmen prefers these breaks to breaks that it finds itself. By default, it prefers the "
            "numbers of ranks that fill a socket or a node.",
        ),
    ] = None,
    size_breaks: Annotated[
        str | None,
        typer.Option(
            "--size-breaks",
            metavar="N,N,…",
            help="Message sizes at which the slope of a model may change, for example 4K,64K.",
        ),
    ] = None,
    keep_breaks: Annotated[
        bool, typer.Option("--keep-breaks", help="Use only the breaks of --breaks and --size-breaks.")
    ] = False,
    continuous: Annotated[
        bool, typer.Option("--continuous", help="Make the lines on the two sides of a break meet at the break.")
    ] = False,
    collectives: Annotated[
        str | None, typer.Option("--collectives", metavar="NAME,…", help="Show only these collectives. Default: all.")
    ] = None,
    ranks: Annotated[
        int | None,
        typer.Option(
            "--ranks",
            metavar="N",
            min=2,
            help="Show the models as functions of the message size, for N ranks. Default: the largest number of ranks "
            "in the table.",
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            "--size",
            metavar="N",
            help="Show the models as functions of the number of ranks, for messages of N bytes. Default: the size in "
            "the table that is nearest to 1K.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="The folder for the results. Default: model."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    options = work.model.options_of(breaks, size_breaks, keep_breaks, continuous)
    shown = work.model.shown_of(collectives, ranks, size)
    raise typer.Exit(work.model.fit_models(table, options, shown, output, quiet))


def select(
    collective: Annotated[str, typer.Option("--collective", metavar="NAME", help="The collective.")],
    ranks: Annotated[int, typer.Option("--ranks", metavar="N", min=2, max=10_000_000, help="The number of ranks.")],
    table: Annotated[
        Path,
        typer.Argument(
            metavar="[FILE.csv]",
            show_default=False,
            help="The table of `culmen bench collectives`. Default: bench-collectives/collectives.csv.",
        ),
    ] = Path("bench-collectives/collectives.csv"),
    size: Annotated[
        str | None,
        typer.Option(
            "--size", metavar="N", help="The message size in bytes, such as 8 or 64K. A barrier needs no size."
        ),
    ] = None,
    mpi: Annotated[
        str | None, typer.Option("--mpi", metavar="NAME", help="The MPI, if the table contains several MPIs.")
    ] = None,
    messages: Annotated[
        Path | None,
        typer.Option(
            "--messages",
            metavar="FILE.csv",
            help="Times of messages for the analytic models, in a file with the columns mapping,size,time_s. By "
            "default, culmen takes the times of the broadcasts between two ranks from the table.",
        ),
    ] = None,
    mapping: Annotated[
        str | None,
        typer.Option(
            "--mapping", metavar="NAME", help="With --messages: the mapping, if the file contains several mappings."
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Also compute the regret for all measured numbers of ranks and message sizes of the collective. Show "
            "the median, the 90 % quantile and the maximum of the regret.",
        ),
    ] = False,
) -> None:
    question = work.model.question_of(collective, ranks, size)
    raise typer.Exit(work.model.select_algorithm(table, question, mpi, messages, mapping, check))
