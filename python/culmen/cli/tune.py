"""``culmen tune``: a group of commands."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .._core import InputError
from . import work
from .given import NOT_GIVEN, Given, with_settings
from .jobs import AtMost, DryRun, DryTuning, Pilot, Scratch, ScratchHere, job_of, job_of_tuning, typed, with_room
from .measuring_options import NodeCounts, NoProgress, Overwrite, Quiet, RanksPerNode
from .tune_hpl import hpl as hpl
from .tune_lines import Maximize, UseHours, UseRuns
from .tune_lines import io as io
from .tune_lines import placement as placement


def _seconds(usual: str) -> Any:
    about = f"Longest time, in seconds, of the measurement of one algorithm with one message size. Default: {usual}."
    return typer.Option("--seconds", metavar="X", show_default=False, min=0.01, max=3600, help=about)


Seconds = Annotated[float | None, _seconds("0.3")]
SecondsOfCluster = Annotated[float | None, _seconds("0.3; with --fast: 0.1")]
Commutative = Annotated[
    bool,
    typer.Option(
        "--commutative",
        help="Also use algorithms that work only with commutative operators. All predefined operators of MPI are "
        "commutative. Some operators that programs define are not commutative.",
    ),
]
SameTypes = Annotated[
    bool,
    typer.Option(
        "--same-types",
        help="Also use algorithms of Open MPI that work only if all ranks call MPI_Bcast with the same count and "
        "datatype.",
    ),
]


@with_settings
def cluster(
    context: typer.Context,
    fast: Annotated[
        bool,
        typer.Option(
            "--fast",
            help="A short tuning: the tuner of `culmen autotune` searches, and misses small gains. By default, it "
            "tunes bcast, allreduce and reduce with all ranks of the job, for seven message sizes.",
        ),
    ] = False,
    mpi: Annotated[
        str | None, typer.Option("--mpi", metavar="NAME", help="The MPI to tune, as for `culmen launch`.")
    ] = None,
    names: Annotated[
        str | None,
        typer.Option(
            "--collectives",
            metavar="NAME,…",
            help="The collectives to tune, such as bcast,reduce. The word all stands for all collectives that a tuning "
            "file can contain. Default: bcast, reduce, allreduce, allgather and alltoall.",
        ),
    ] = None,
    ranks: Annotated[
        str | None,
        typer.Option(
            "--ranks",
            metavar="N,N-N,…",
            help="Numbers of ranks, as for `culmen bench collectives`. By default, the largest number is the number "
            "of ranks of the job, but at most 4096. Without a job, it is the number of cores. 9, 17, 33, … are also "
            "tuned.",
        ),
    ] = None,
    node_counts: NodeCounts = None,
    ranks_per_node: RanksPerNode = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            metavar="N,N-N,…",
            help="Message sizes in bytes, such as 8,1K-4M. Default: 1-1M; with --fast: 8,64,512,4K,32K,256K,1M.",
        ),
    ] = None,
    seconds: SecondsOfCluster = None,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            show_default=False,
            min=1,
            max=86400,
            help="If the ranks do not answer for this time, culmen leaves out the algorithm. Default: 60.",
        ),
    ] = 60.0,
    commutative: Commutative = False,
    same_types: SameTypes = False,
    variables: Annotated[
        str | None,
        typer.Option(
            "--variables",
            metavar="GROUP,…",
            help="First tune other variables of the MPI, then the collectives. The groups of variables are "
            "transport, binding, wait, copy, eager and tcp; all stands for all groups.",
        ),
    ] = None,
    allow_sysctl: Annotated[
        bool,
        typer.Option(
            "--allow-sysctl",
            help="With --variables tcp, as root: raise the kernel's limits for socket buffers on all nodes during the "
            "tuning.",
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="The folder for the results. Default: tune-cluster."),
    ] = None,
    overwrite: Overwrite = False,
    job: Given = NOT_GIVEN,
    dry_run: DryRun = False,
    pilot: Pilot = None,
    at_most: AtMost = None,
    scratch: Scratch = None,
    quiet: Quiet = False,
) -> None:
    given = (mpi, names, ranks, sizes, seconds, timeout, same_types, commutative, fast, node_counts, ranks_per_node)
    job = with_room(job, node_counts, ranks_per_node)
    asked = job_of(job, dry_run, pilot, at_most)
    if asked is None:
        wanted = work.tune_cluster.tuning_of(*given, variables=variables, allow_sysctl=allow_sysctl)
        raise typer.Exit(work.tune_cluster.tune_cluster(wanted, output, overwrite, quiet, scratch, at_most))
    on = work.submit.Cluster.of(asked)
    wanted = work.tune_cluster.tuning_of(
        *given, most_ranks=max(2, on.room()), nodes=job["nodes"] or 0, variables=variables, allow_sysctl=allow_sysctl
    )
    words = typed(context, without=("ranks",))
    raise typer.Exit(work.tune_cluster.submit_tuning(wanted, on, words, output, overwrite, quiet))


def app(
    context: typer.Context,
    direct: Annotated[
        bool,
        typer.Option(
            "--direct",
            help="Search with runs of the program itself, instead of a benchmark of its collectives.",
        ),
    ] = False,
    figure: Annotated[
        str | None,
        typer.Option(
            "--figure",
            metavar="REGEX",
            help="With --direct: optimize a number in the output of the program, instead of the wall time. The group "
            "of the regular expression must match this number, as in 'rate = (\\S+)'.",
        ),
    ] = None,
    maximize: Maximize = False,
    minutes: Annotated[
        float | None,
        typer.Option(
            "--minutes",
            metavar="M",
            min=0.01,
            max=100_000,
            show_default=False,
            help="With --direct: the search ends after M minutes. Default: it ends after 10 runs, plus 3 runs for each "
            "algorithm that it can choose instead of the present ones, but after at most 150 runs.",
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds",
            metavar="N",
            min=3,
            max=1000,
            show_default=False,
            help="At the end, run the program N times without the tuning file, and N times with it. Default: 5; with "
            "--direct: 10.",
        ),
    ] = None,
    seconds: Seconds = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            min=0.01,
            show_default=False,
            help="Longest time of a run of the program. Default: 10 times the duration of the first run, plus 60 s.",
        ),
    ] = None,
    commutative: Commutative = False,
    same_types: SameTypes = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="The folder for the results. Default: tune-app; with --direct: tune-direct.",
        ),
    ] = None,
    scratch: ScratchHere = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    words, allowed = list(context.args), (same_types, commutative)
    if not direct:
        refuse_without_direct(figure, maximize, minutes)
        given = (words, output, rounds or 5, seconds or 0.3, allowed, time_limit, scratch)
        raise typer.Exit(work.tune_app.tune_app(*given, overwrite, quiet))
    if seconds is not None:
        raise InputError("--seconds is for the benchmark of collectives, which --direct does not use; leave it out")
    wanted = work.tune_direct.Wanted(figure, maximize, None, rounds or 10, time_limit, None, minutes=minutes)
    raise typer.Exit(work.tune_direct.tune_direct(words, output, wanted, allowed, scratch, overwrite, quiet))


def refuse_without_direct(figure: str | None, maximize: bool, minutes: float | None) -> None:
    given = {"--figure": figure is not None, "--maximize": maximize, "--minutes": minutes is not None}
    for option in (name for name, is_given in given.items() if is_given):
        raise InputError(f"{option} is for runs of the program itself; add --direct, or leave out {option}")


@with_settings
def command(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE.toml", help="The program, its parameters, and what to measure.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="The folder for the results. Default: tune-FILE."),
    ] = None,
    use_hours: UseHours = None,
    use_runs: UseRuns = None,
    overwrite: Overwrite = False,
    job: Given = NOT_GIVEN,
    dry_run: DryTuning = False,
    scratch: Scratch = None,
    quiet: NoProgress = False,
) -> None:
    asked = job_of_tuning(job, dry_run)
    if asked is None and dry_run:
        raise typer.Exit(work.tune_command.show_plan(file, output, use_hours, use_runs))
    if asked is None:
        raise typer.Exit(work.tune_command.tune_command(file, output, overwrite, quiet, use_hours, use_runs, scratch))
    words = typed(context, without=("file",))
    raise typer.Exit(work.tune_submit.submit_command(file, asked, words, output, overwrite, quiet, use_hours, use_runs))


def convert(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A tuning file of Open MPI or Intel MPI.")],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FORM",
            help="openmpi-json for Open MPI 6, openmpi-rules for Open MPI 4 and 5, or intel for shell commands that "
            "set the variables I_MPI_ADJUST_….",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write into this file. Default: standard output."),
    ] = None,
) -> None:
    raise typer.Exit(work.convert.convert(file, to, output))


def lint(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A tuning file of Open MPI or MPICH, a folder with it, or a script for Intel MPI."
        ),
    ],
    mpi: Annotated[
        str | None,
        typer.Option("--mpi", metavar="NAME", help="The MPI that reads the file, as for `culmen launch`."),
    ] = None,
    ranks: Annotated[
        int | None,
        typer.Option(
            "--ranks",
            metavar="N",
            show_default=False,
            min=0,
            max=4096,
            help="culmen tries the rules with at most N ranks. With 0, culmen does not try the rules. Default: 8.",
        ),
    ] = None,
) -> None:
    raise typer.Exit(work.lint.lint(file, mpi, 8 if ranks is None else ranks))


def install(
    tuned: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="The folder with the results of `culmen tune cluster`, or a tuning file."
        ),
    ] = Path("tune-cluster"),
    site: Annotated[
        bool,
        typer.Option(
            "--site",
            help="Make the file the default for all users of this Open MPI. Without --site, the file is the default "
            "only for you.",
        ),
    ] = False,
    module: Annotated[
        Path | None,
        typer.Option(
            "--module",
            metavar="FILE",
            help="Do not change the default. Write an environment module that users load.",
        ),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Undo an earlier installation.")] = False,
    mpi: Annotated[str | None, typer.Option("--mpi", metavar="NAME", help="The MPI, as for `culmen launch`.")] = None,
) -> None:
    raise typer.Exit(work.install.install(tuned, site, module, remove, mpi))
