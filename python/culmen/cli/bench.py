"""``culmen bench``: a group of commands."""

from pathlib import Path
from typing import Annotated

import typer

from . import work


def transport(
    workers: Annotated[
        str | None, typer.Option("--workers", metavar="N,N,…", help="Numbers of workers. Default: 2,8,32.")
    ] = None,
    durations: Annotated[
        str | None,
        typer.Option(
            "--durations",
            metavar="T,T,…",
            help="Durations of an evaluation, with the unit us, ms or s. Default: 1ms,10ms,100ms.",
        ),
    ] = None,
    transports: Annotated[
        str | None,
        typer.Option(
            "--transports",
            metavar="NAME,…",
            help="Some of mailbox, mpi, wss, ws, tcp and tcp-per-item. Default: all; without an MPI, all but mpi.",
        ),
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option("--repetitions", metavar="N", min=1, max=1000, help="Measure each point N times. Default: 3."),
    ] = None,
    cost: Annotated[
        str,
        typer.Option(
            "--cost",
            metavar="sleep|busy|lognormal",
            show_default=False,
            help="Each evaluation sleeps, uses a CPU, or sleeps for a random time (log-normal). Default: sleep.",
        ),
    ] = "sleep",
    io_threads: Annotated[
        str | None,
        typer.Option("--io-threads", metavar="N,N,…", help="Numbers of I/O threads for plot 5. Default: 1,2,4."),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds",
            metavar="X",
            show_default=False,
            min=0.05,
            max=3600,
            help="Measure each point for X seconds, or longer: until each worker has done 8 evaluations. Default: 0.5.",
        ),
    ] = 0.5,
    mpi: Annotated[
        str | None, typer.Option("--mpi", metavar="NAME", help="The MPI to use, as for `culmen launch`.")
    ] = None,
    peer: Annotated[
        list[Path] | None,
        typer.Option(
            "--peer",
            metavar="FILE.py",
            help="Also measure other software with this runner. Repeat the option for more runners.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Fewer points: 2 and 8 workers, 1 and 10 ms, 2 repetitions, 1 and 2 I/O threads."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="The folder for the results. Default: bench-transport."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Measure again, and replace the results in the folder.")
    ] = False,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--compare",
            metavar="A.csv B.csv",
            help="Measure nothing: compare the tables of two machines.",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no table.")] = False,
) -> None:
    if compare is not None:
        raise typer.Exit(work.bench.compare_transports(*compare, output))
    grid = work.bench.grid_of(
        workers, durations, transports, repetitions, cost, io_threads, seconds, mpi, peer or [], quick
    )
    raise typer.Exit(work.bench.measure_transports(grid, output, overwrite, quiet))
