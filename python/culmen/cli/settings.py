"""Options of `culmen run` and `culmen resume` that are keys of the study file. Written by tools/quote_settings."""

from typing import Annotated

import typer

Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        max=65536,
        help="Number of evaluations in parallel. Default: that of the study, else one per CPU.",
    ),
]
Evaluations = Annotated[
    int | None,
    typer.Option(
        "--evaluations",
        min=1,
        max=9223372036854775807,
        help="Number of evaluations whose results reach the optimizer. Default: that of the study.",
    ),
]
Target = Annotated[
    float | None, typer.Option("--target", help="Stops at this value or a better one. Default: that of the study.")
]
Stagnation = Annotated[
    int | None,
    typer.Option(
        "--stagnation",
        min=1,
        max=9223372036854775807,
        help="Number of successive evaluations without an improvement. Default: that of the study.",
    ),
]
WallTime = Annotated[
    float | None,
    typer.Option("--wall-time", min=0, metavar="SECONDS", help="Seconds of one run. Default: that of the study."),
]
SETTINGS = {
    "workers": Workers,
    "evaluations": Evaluations,
    "target": Target,
    "stagnation": Stagnation,
    "wall_time_s": WallTime,
}
