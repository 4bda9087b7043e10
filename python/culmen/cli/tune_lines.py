"""``culmen tune placement`` and ``culmen tune io``: tuners of a command line."""

from pathlib import Path
from typing import Annotated

import typer

from . import work
from .given import NOT_GIVEN, Given, with_settings
from .jobs import Scratch, job_of_tuning, typed
from .measuring_options import NoProgress, Overwrite

Rounds = Annotated[
    int,
    typer.Option(
        "--rounds",
        metavar="N",
        min=3,
        max=1000,
        show_default=False,
        help="At the end, run the program N times with the command that you typed, and N times with the best settings. "
        "Default: 10.",
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
        help="Number of runs of the search. Default: 60, or fewer if there are few settings.",
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
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Show the settings that culmen would try. Run nothing. With --submit: only print the batch script.",
    ),
]
Figure = Annotated[
    str | None,
    typer.Option(
        "--figure",
        metavar="REGEX",
        help="Optimize a number in the output of the program, instead of the wall time. The group of the regular "
        "expression must match this number, as in 'rate = (\\S+)'.",
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
        help="Price of one core for one hour, in any currency. culmen then also shows the cost of the runs.",
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
        help="Total number of hours for which the program will run after the search. culmen stops the search when a "
        "further run of the search would take more time than it saves later.",
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
        help="Instead of --use-hours: number of times that you will run the program after the search.",
    ),
]


@with_settings
def placement(
    context: typer.Context,
    ranks: Annotated[
        str | None,
        typer.Option(
            "--ranks",
            metavar="N,N-N,…",
            help="Numbers of ranks to try on each node. By default, culmen keeps the number in the command that you "
            "typed. With --figure, culmen by default also tries other numbers: the numbers with which all sockets have "
            "the same number of ranks.",
        ),
    ] = None,
    threads: Annotated[
        str | None,
        typer.Option(
            "--threads",
            metavar="N,N-N,…",
            help="Numbers of OpenMP threads of each rank, or of a program without ranks. By default, culmen chooses "
            "these numbers if the program is linked with OpenMP.",
        ),
    ] = None,
    topology: Annotated[
        str | None,
        typer.Option(
            "--topology",
            metavar="TEXT|FILE.xml",
            help="Only with --dry-run: sockets and cores of another machine, in a format of hwloc, such as 'pack:2 "
            "numa:1 core:18 pu:2'. Default: the sockets and cores of this machine.",
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
    job: Given = NOT_GIVEN,
    scratch: Scratch = None,
    quiet: NoProgress = False,
) -> None:
    use = work.tune_placement.Use(use_hours, use_runs)
    wanted = work.tune_placement.Wanted(figure, maximize, runs, rounds, time_limit, price, use)
    asked = job_of_tuning(job, dry_run)
    after, words = list(context.args), typed(context, without=())
    if asked is not None:
        work.tune_placement.check_job(after, topology)
        line = ("placement", wanted, asked, words, after)
        raise typer.Exit(work.tune_submit.submit_line(*line, output, overwrite, quiet))
    given = (after, wanted, ranks, threads, topology)
    raise typer.Exit(work.tune_placement.tune_placement(*given, dry_run, output, overwrite, quiet, scratch, words))


@with_settings
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
            help="Instead of a command: tune culmen's own benchmark with this access pattern: file-per-process, "
            "contiguous, strided or collective.",
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
            help="The part of the benchmark that culmen makes faster: write, read or both. Default: both.",
        ),
    ] = "both",
    ranks: Annotated[
        int | None,
        typer.Option(
            "--ranks",
            metavar="N",
            min=1,
            show_default=False,
            help="Number of ranks of the benchmark. Default: one rank on each core.",
        ),
    ] = None,
    size: Annotated[
        str,
        typer.Option(
            "--size",
            metavar="N",
            show_default=False,
            help="Bytes that each rank of the benchmark writes or reads, such as 64M. Default: 16M.",
        ),
    ] = "16M",
    transfer: Annotated[
        str,
        typer.Option(
            "--transfer",
            metavar="N",
            show_default=False,
            help="Bytes that the benchmark writes or reads in one call. Default: 4K.",
        ),
    ] = "4K",
    mpi: Annotated[
        str | None,
        typer.Option("--mpi", metavar="NAME", help="The MPI of the benchmark, as for `culmen launch`."),
    ] = None,
    iobuf: Annotated[
        bool,
        typer.Option(
            "--iobuf",
            help="Also try the buffers of `culmen iobuf`. With these buffers, a program that crashes may lose data "
            "that it has written.",
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
    job: Given = NOT_GIVEN,
    scratch: Scratch = None,
    quiet: NoProgress = False,
) -> None:
    use = work.tune_io.Use(use_hours, use_runs)
    wanted = work.tune_io.Wanted(figure, maximize, runs, rounds, time_limit, price, use)
    own = work.tune_io.Own(pattern, api, measure, ranks, size, transfer, mpi)
    asked = job_of_tuning(job, dry_run)
    after, words = list(context.args), typed(context, without=())
    if asked is not None:
        work.tune_io.check(after, own, folder)
        raise typer.Exit(work.tune_submit.submit_line("io", wanted, asked, words, after, output, overwrite, quiet))
    given = (after, own, folder, wanted, iobuf, dry_run, output, overwrite, quiet)
    raise typer.Exit(work.tune_io.tune_io(*given, scratch, words))
