"""Options of `culmen run` and `culmen resume` that are keys of the study file. Written by tools/quote_settings."""

from typing import Annotated

import typer

Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        max=65536,
        metavar="N",
        help="Number of evaluations in parallel. Default: as in the study, otherwise one per CPU.",
    ),
]
TeamSize = Annotated[
    int | None,
    typer.Option(
        "--team-size",
        min=1,
        max=65536,
        metavar="N",
        help="Under MPI, this number of ranks (a team) evaluates each candidate together. Default: as in the study, otherwise each rank evaluates alone.",
    ),
]
TeamPlacement = Annotated[
    str | None,
    typer.Option(
        "--team-placement",
        metavar="node|any",
        help='With "node", all ranks of a team are on one node. Default: as in the study.',
    ),
]
Evaluations = Annotated[
    int | None,
    typer.Option(
        "--evaluations",
        min=1,
        max=9223372036854775807,
        metavar="N",
        help="The study ends after this number of evaluations. Default: as in the study.",
    ),
]
Target = Annotated[
    float | None,
    typer.Option(
        "--target",
        metavar="X",
        help="The study ends when it finds this value or a better value. Default: as in the study.",
    ),
]
Stagnation = Annotated[
    int | None,
    typer.Option(
        "--stagnation",
        min=1,
        max=9223372036854775807,
        metavar="N",
        help="The study ends after this number of evaluations without an improvement. Default: as in the study.",
    ),
]
WallTime = Annotated[
    float | None,
    typer.Option(
        "--wall-time",
        min=0,
        metavar="SECONDS",
        help="The run ends after this number of seconds (0 means no limit), and you can resume the study. Default: as in the study.",
    ),
]
SETTINGS = {
    "workers": Workers,
    "team_size": TeamSize,
    "team_placement": TeamPlacement,
    "evaluations": Evaluations,
    "target": Target,
    "stagnation": Stagnation,
    "wall_time_s": WallTime,
}
