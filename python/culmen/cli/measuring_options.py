"""The options that several commands that measure have."""

from typing import Annotated

import typer

Interval = Annotated[
    float,
    typer.Option(
        "--interval",
        metavar="X",
        show_default=False,
        min=0.001,
        max=1,
        help="Required relative precision of the median time. culmen repeats the calls until half the width of the "
        "95 % confidence interval is at most X times the median. Default: 0.05.",
    ),
]
Repetitions = Annotated[
    int | None,
    typer.Option(
        "--repetitions",
        metavar="N",
        min=1,
        max=1000000,
        help="Make at least N repetitions after the warm-up. --interval and --seconds then have no effect.",
    ),
]
Mapping = Annotated[
    str | None,
    typer.Option(
        "--mapping",
        metavar="NAME,…",
        help="The rule by which ranks are placed. Consecutive ranks run on consecutive cores (core), sockets (socket) "
        "or nodes (node). culmen binds each rank to a core. If you give several mappings, culmen compares them. By "
        "default, mpiexec places the ranks.",
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Measure again, and replace the results in the folder.")]
Parquet = Annotated[bool, typer.Option("--parquet", help="Write the table also as a Parquet file.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no table.")]
NoProgress = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]

NodeCounts = Annotated[
    str | None,
    typer.Option(
        "--node-counts",
        metavar="N,…",
        help="With --ranks-per-node: numbers of nodes, such as 2,4. Default: all nodes of the job, or one node.",
    ),
]
RanksPerNode = Annotated[
    str | None,
    typer.Option(
        "--ranks-per-node",
        metavar="N,…",
        help="Instead of --ranks: numbers of ranks on each node, such as 1,4,8. culmen combines each of these numbers "
        "with each number in --node-counts.",
    ),
]
