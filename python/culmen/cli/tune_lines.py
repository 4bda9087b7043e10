"""``culmen tune placement`` and ``culmen tune io``: tuners of a command line."""

from pathlib import Path
from typing import Annotated

import typer

from . import work
from .measuring_options import NoProgress, Overwrite

Rounds = Annotated[
    int,
    typer.Option(
        "--rounds",
        metavar="N",
        min=3,
        max=1000,
        show_default=False,
        help="At the end, run the program N times as you typed it, and N times with the best settings. Default: 10.",
    ),
]
Runs = Annotated[
    int | None,
    typer.Option(
        "--runs",
        metavar="N",
        min=1,
        max=1_000_000,
        show_default=False,
        help="Number of runs of the search. Default: up to 60, or fewer if there are few settings.",
    ),
]
Most = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        min=0.01,
        show_default=False,
        help="Longest time of a run. A longer run counts as failed. Default: 10 times the duration of your command, "
        "plus 60 s.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the settings that culmen would try. Run nothing.")]
Figure = Annotated[
    str | None,
    typer.Option(
        "--figure",
        metavar="REGEX",
        help="Tune for a number in the program's output, instead of its wall time. The number is the group of the "
        "regular expression, as in 'rate = (\\S+)'.",
    ),
]
Maximize = Annotated[
    bool,
    typer.Option("--maximize", help="With --figure: a larger number is better. Default: a smaller number is better."),
]
Price = Annotated[
    float | None,
    typer.Option(
        "--price",
        metavar="X",
        min=0,
        max=1e6,
        show_default=False,
        help="The price of an hour of one core, in any currency.",
    ),
]

UseHours = Annotated[
    float | None,
    typer.Option(
        "--use-hours",
        metavar="H",
        min=1e-6,
        max=1e9,
        show_default=False,
        help="Total number of hours for which the program will still run after the search. The search stops when it "
        "no longer pays.",
    ),
]
UseRuns = Annotated[
    int | None,
    typer.Option(
        "--use-runs",
        metavar="N",
        min=1,
        max=10**12,
        show_default=False,
        help="Instead of --use-hours: number of times that you will still run the program after the search.",
    ),
]


def placement(
    context: typer.Context,
    ranks: Annotated[
        str | None,
        typer.Option(
            "--ranks",
            metavar="N,N-N,…",
            help="Numbers of ranks on each node that culmen tries. Default: the number that you typed. With "
            "--figure: also other numbers from half of the number of cores on, if each socket then has the same "
            "number of ranks.",
        ),
    ] = None,
    threads: Annotated[
        str | None,
        typer.Option(
            "--threads",
            metavar="N,N-N,…",
            help="Numbers of OpenMP threads of each rank, or of the program. Default: culmen chooses, if the program "
            "is linked with OpenMP.",
        ),
    ] = None,
    topology: Annotated[
        str | None,
        typer.Option(
            "--topology",
            metavar="TEXT|FILE.xml",
            help="The sockets and cores, as hwloc describes them, such as 'pack:2 numa:1 core:18 pu:2'. Default: the "
            "sockets and cores of this machine. Only with --dry-run.",
        ),
    ] = None,
    dry_run: DryRun = False,
    figure: Figure = None,
    maximize: Maximize = False,
    runs: Runs = None,
    rounds: Rounds = 10,
    time_limit: Most = None,
    price: Price = None,
    use_hours: UseHours = None,
    use_runs: UseRuns = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="The folder for the results. Default: tune-placement."),
    ] = None,
    overwrite: Overwrite = False,
    quiet: NoProgress = False,
) -> None:
    use = work.tune_placement.Use(use_hours, use_runs)
    wanted = work.tune_placement.Wanted(figure, maximize, runs, rounds, time_limit, price, use)
    given = (list(context.args), wanted, ranks, threads, topology)
    raise typer.Exit(work.tune_placement.tune_placement(*given, dry_run, output, overwrite, quiet))


def io(
    context: typer.Context,
    folder: Annotated[
        Path,
        typer.Option(
            "--folder",
            metavar="FOLDER",
            help="The folder in which culmen makes a new folder for each run. In the command, {folder} stands for "
            "this new folder. culmen removes it after the run. Default: the current folder.",
        ),
    ] = Path(),
    pattern: Annotated[
        str | None,
        typer.Option(
            "--pattern",
            metavar="NAME",
            help="Without a command: tune for culmen's own benchmark with this pattern: file-per-process, contiguous, "
            "strided or collective.",
        ),
    ] = None,
    api: Annotated[
        str,
        typer.Option(
            "--api",
            metavar="NAME",
            show_default=False,
            help="How the benchmark accesses files: mpiio or posix. Default: mpiio.",
        ),
    ] = "mpiio",
    measure: Annotated[
        str,
        typer.Option(
            "--measure",
            metavar="PART",
            show_default=False,
            help="The times of the benchmark that count: both, write or read. Default: both.",
        ),
    ] = "both",
    ranks: Annotated[
        int | None,
        typer.Option(
            "--ranks",
            metavar="N",
            min=1,
            show_default=False,
            help="Number of ranks of the benchmark. Default: one per core.",
        ),
    ] = None,
    size: Annotated[
        str,
        typer.Option(
            "--size",
            metavar="N",
            show_default=False,
            help="Bytes that each rank writes or reads, such as 64M. Default: 16M.",
        ),
    ] = "16M",
    transfer: Annotated[
        str,
        typer.Option(
            "--transfer", metavar="N", show_default=False, help="Bytes of one call of the benchmark. Default: 4K."
        ),
    ] = "4K",
    mpi: Annotated[
        str | None,
        typer.Option("--mpi", metavar="NAME", help="The MPI of the benchmark, as for `culmen launch`."),
    ] = None,
    iobuf: Annotated[
        bool,
        typer.Option(
            "--iobuf", help="Also try the buffers of `culmen iobuf`. If a program crashes, it may lose writes."
        ),
    ] = False,
    dry_run: DryRun = False,
    figure: Figure = None,
    maximize: Maximize = False,
    runs: Runs = None,
    rounds: Rounds = 10,
    time_limit: Most = None,
    price: Price = None,
    use_hours: UseHours = None,
    use_runs: UseRuns = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="The folder for the results. Default: tune-io."),
    ] = None,
    overwrite: Overwrite = False,
    quiet: NoProgress = False,
) -> None:
    use = work.tune_io.Use(use_hours, use_runs)
    wanted = work.tune_io.Wanted(figure, maximize, runs, rounds, time_limit, price, use)
    own = work.tune_io.Own(pattern, api, measure, ranks, size, transfer, mpi)
    raise typer.Exit(
        work.tune_io.tune_io(list(context.args), own, folder, wanted, iobuf, dry_run, output, overwrite, quiet)
    )
