"""``culmen bench``: a group of commands."""

from pathlib import Path
from typing import Annotated

import typer

from . import work
from .given import NOT_GIVEN, Given, with_settings
from .jobs import AtMost, DryRun, Pilot, Scratch, job_of, typed, with_room
from .measuring_options import Interval, Mapping, NodeCounts, Overwrite, Parquet, Quiet, RanksPerNode, Repetitions


def transport(
    workers: Annotated[
        str | None,
        typer.Option(
            "--workers",
            metavar="N,N,…",
            help="Numbers of workers. Default: 2,8,32. culmen always also measures with one worker.",
        ),
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
            help="Some of mailbox, mpi, wss, ws, tcp and tcp-per-item. Default: all; without an MPI, all except mpi.",
        ),
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(
            "--repetitions",
            metavar="N",
            min=1,
            max=1000,
            help="Measure each combination of transport, workers and duration N times. Default: 3.",
        ),
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
        typer.Option(
            "--io-threads",
            metavar="N,N,…",
            help="Numbers of threads that encrypt, send and receive messages, for plot 5 in transport.html. "
            "Default: 1,2,4.",
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds",
            metavar="X",
            show_default=False,
            min=0.05,
            max=3600,
            help="Measure each point for at least X seconds, and until each worker has made 8 evaluations. Default: "
            "0.5.",
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
            help="Also measure other software with this Python program, which you write. Repeat the option for more "
            "programs.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Make a shorter measurement: 2 and 8 workers, evaluations of 1 and 10 ms, 2 repetitions, 1 and 2 I/O "
            "threads.",
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="The folder for the results. Default: bench-transport."),
    ] = None,
    overwrite: Overwrite = False,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--compare",
            metavar="A.csv B.csv",
            help="Measure nothing. Compare the tables of two machines, and write compare.html.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    if compare is not None:
        raise typer.Exit(work.transport.compare_transports(*compare, output))
    grid = work.transport.grid_of(
        workers, durations, transports, repetitions, cost, io_threads, seconds, mpi, peer or [], quick
    )
    raise typer.Exit(work.transport.measure_transports(grid, output, overwrite, quiet))


@with_settings
def collectives(
    context: typer.Context,
    names: Annotated[
        str | None,
        typer.Option(
            "--collectives",
            metavar="NAME,…",
            help="The collectives, or blocking, nonblocking or all. Default: "
            "bcast,reduce,allreduce,allgather,alltoall.",
        ),
    ] = None,
    ranks: Annotated[
        str | None,
        typer.Option(
            "--ranks",
            metavar="N,N-N,…",
            help="Numbers of ranks. A range such as 2-48 stands for its ends, the powers of two between the ends, and "
            "these powers multiplied by 1.5. 2-48:2 stands for 2, 4, 6 and so on. Default: the range from 2 to the "
            "number of cores, or from 2 to 4 if there are fewer than 4 cores.",
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            metavar="N,N-N,…",
            help="Message sizes in bytes. You can write sizes as 64K or 4M. A range stands for its ends, and for the "
            "powers of two between the ends. Default: 1-1M.",
        ),
    ] = None,
    mpi: Annotated[
        str | None, typer.Option("--mpi", metavar="NAME", help="The MPI to measure, as for `culmen launch`.")
    ] = None,
    algorithms: Annotated[
        str | None,
        typer.Option(
            "--algorithms",
            metavar="NAME,…",
            help="Measure only these algorithms. Use the MPI's own names for them; `default` means that the MPI "
            "chooses the algorithm. Default: all.",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="NAME",
            help="The algorithm with which the table and the plots compare all other algorithms. Default: the "
            "algorithm that the MPI chooses (default).",
        ),
    ] = None,
    interval: Interval = 0.05,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds",
            metavar="X",
            show_default=False,
            min=0.01,
            max=3600,
            help="Longest time, in seconds, of the measurement of one algorithm with one message size. Default: 1.",
        ),
    ] = 1.0,
    repetitions: Repetitions = None,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout",
            metavar="X",
            show_default=False,
            min=1,
            max=86400,
            help="If the ranks do not answer for X seconds, culmen leaves out the algorithm. Default: 60.",
        ),
    ] = 60.0,
    offset: Annotated[
        int,
        typer.Option(
            "--offset",
            metavar="N",
            show_default=False,
            min=0,
            max=1024,
            help="Measure, in addition to each message size, the sizes that are N bytes smaller and N bytes larger. "
            "Default: 0.",
        ),
    ] = 0,
    root: Annotated[
        str | None,
        typer.Option(
            "--root", metavar="N,N,…", help="Root ranks. culmen measures with each of these roots. Default: 0."
        ),
    ] = None,
    node_counts: NodeCounts = None,
    ranks_per_node: RanksPerNode = None,
    mapping: Mapping = None,
    suite: Annotated[
        Path | None,
        typer.Option(
            "--with",
            metavar="FOLDER",
            help="Measure with the programs of the OSU Micro-Benchmarks or the Intel MPI Benchmarks in this folder.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Make a shorter measurement: bcast and allreduce, numbers of ranks from 2 to the number of cores, "
            "messages of 8 B, 1 KiB and 64 KiB.",
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="The folder for the results. Default: bench-collectives."
        ),
    ] = None,
    overwrite: Overwrite = False,
    job: Given = NOT_GIVEN,
    dry_run: DryRun = False,
    pilot: Pilot = None,
    at_most: AtMost = None,
    scratch: Scratch = None,
    parquet: Parquet = False,
    quiet: Quiet = False,
) -> None:
    protocol = work.collectives.protocol_of(interval, seconds, repetitions, timeout)
    given = (mpi, names, algorithms, ranks, sizes, protocol, quick, suite, root, offset, mapping, baseline)
    shape = (node_counts, ranks_per_node)
    job = with_room(job, node_counts, ranks_per_node)
    asked = job_of(job, dry_run, pilot, at_most)
    if asked is None:
        plan = work.collectives.plan_of(*given, *shape)
        raise typer.Exit(
            work.collectives.measure_collectives(plan, output, overwrite, quiet, scratch, at_most, parquet)
        )
    cluster = work.submit.Cluster.of(asked)
    plan = work.collectives.plan_of(*given, *shape, most_ranks=max(2, cluster.room()), nodes=job["nodes"] or 0)
    words = typed(context, without=("ranks", "parquet"))
    raise typer.Exit(work.collectives.submit_collectives(plan, cluster, words, output, overwrite, quiet, parquet))


@with_settings
def pingpong(
    context: typer.Context,
    routes: Annotated[
        str | None,
        typer.Option(
            "--routes",
            metavar="NAME,…",
            help="The routes: the ways to send messages, such as raw/tcp or openmpi. raw stands for all routes without "
            "MPI. Default: all routes of this machine.",
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            metavar="N,N-N,…",
            help="Message sizes in bytes. You can write sizes as 64K or 4M. By default, culmen measures all powers "
            "of two up to 8M. It also measures the sizes that are 3 bytes larger and, from 4 bytes on, the sizes that "
            "are 3 bytes smaller.",
        ),
    ] = None,
    interval: Interval = 0.05,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds",
            metavar="X",
            show_default=False,
            min=0.01,
            max=3600,
            help="Longest time, in seconds, of the measurement of one message size. Default: 0.5.",
        ),
    ] = 0.5,
    repetitions: Repetitions = None,
    buffer: Annotated[
        str | None,
        typer.Option(
            "--buffer",
            metavar="N,…",
            help="Size of the socket buffers in the routes raw/tcp and raw/unix, such as 64K. By default, the "
            "operating system chooses the size. If you give several sizes, each size is a route of its own.",
        ),
    ] = None,
    mapping: Mapping = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="The folder for the results. Default: bench-pingpong."),
    ] = None,
    overwrite: Overwrite = False,
    job: Given = NOT_GIVEN,
    dry_run: DryRun = False,
    pilot: Pilot = None,
    at_most: AtMost = None,
    scratch: Scratch = None,
    parquet: Parquet = False,
    quiet: Quiet = False,
) -> None:
    asked = job_of(job, dry_run, pilot, at_most)
    limits = (interval, seconds, repetitions or 0)
    nodes = (asked.nodes or 1) if asked else 1
    plan = work.pingpong.plan_of(routes, sizes, limits, buffer, mapping, here=asked is None, nodes=nodes)
    if asked is None:
        raise typer.Exit(work.pingpong.measure_pingpong(plan, output, overwrite, quiet, scratch, at_most, parquet))
    cluster = work.submit.Cluster.of(asked)
    words = typed(context, without=("routes", "parquet"))
    raise typer.Exit(work.pingpong.submit_pingpong(plan, cluster, words, output, overwrite, quiet, parquet))


def build(
    sources: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCES",
            help="A folder or a tar archive with the sources, such as osu-micro-benchmarks-7.4.tar.gz.",
        ),
    ],
    mpi: Annotated[
        str | None, typer.Option("--mpi", metavar="NAME", help="The MPI to build for, as for `culmen launch`.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="The folder for the programs. Default: bench-suites/NAME-MPI, with the names of the sources and of "
            "the MPI.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Build again, and replace the programs in the folder.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no summary.")] = False,
) -> None:
    raise typer.Exit(work.suites.build_suite(sources, mpi, output, overwrite, quiet))
