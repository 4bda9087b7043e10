"""``culmen simulate``."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from . import work
from .arguments import Fix, Force, StudyFile, fixed_values


def simulate(
    study: StudyFile,
    workers: Annotated[
        int, typer.Option("--workers", min=1, max=10_000_000, metavar="N", help="Number of simulated workers.")
    ],
    evaluations: Annotated[
        int | None,
        typer.Option(
            "--evaluations",
            min=1,
            max=9_223_372_036_854_775_807,
            metavar="N",
            help="The simulated run ends after this number of evaluations. Default: as in the study.",
        ),
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(
            "--duration",
            metavar="SECONDS",
            help="Mean duration of an evaluation. Default: the durations in the store of the study.",
        ),
    ] = None,
    distribution: Annotated[
        Literal["constant", "exponential", "lognormal"] | None,
        typer.Option(
            "--distribution",
            help="With --duration: distribution of the durations of evaluations. Default: lognormal if you give "
            "--spread, otherwise constant.",
        ),
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(
            "--spread",
            metavar="X",
            help="For lognormal: standard deviation of the natural logarithm of the duration. Default: 0.5.",
        ),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            metavar="PATH",
            help="The store with measured durations. Default: as in the study file, otherwise NAME.db in the current "
            "folder.",
        ),
    ] = None,
    function: Annotated[
        Literal["sphere", "rosenbrock", "rastrigin"],
        typer.Option("--function", help="The test function that gives the values. culmen does not call the evaluator."),
    ] = "sphere",
    workers_per_node: Annotated[
        int,
        typer.Option(
            "--workers-per-node",
            min=1,
            max=65536,
            metavar="N",
            help="Number of workers on each node. Each node except the node of the master also has a relay.",
        ),
    ] = 64,
    network: Annotated[
        Path | None,
        typer.Option(
            "--network",
            metavar="FILE",
            help="A TOML file with the times of messages, or a folder with results of culmen bench transport. By "
            "default, culmen measures these times on this machine.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**63 - 1, metavar="N", help="Seed of the random numbers. Default: as in the study."),
    ] = None,
    fix: Fix = None,
    only: Annotated[
        bool,
        typer.Option(
            "--only",
            help="Simulate only the given number of workers and the given network. Without this option, culmen also "
            "simulates other numbers of workers and other networks.",
        ),
    ] = False,
    max_workers: Annotated[
        int,
        typer.Option(
            "--max-workers",
            min=100,
            max=10_000_000,
            metavar="N",
            help="Without --only: largest simulated number of workers.",
        ),
    ] = 1_000_000,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also write an HTML page with the results and plots.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    force: Force = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar.")] = False,
) -> None:
    given = work.simulate.Given(
        workers=workers,
        evaluations=evaluations,
        duration_s=duration,
        distribution=distribution,
        spread=spread,
        store=store,
        function=function,
        workers_per_node=workers_per_node,
        network=network,
        seed=seed,
        fix=fixed_values(fix),
        only=only,
        max_workers=max_workers,
    )
    raise typer.Exit(work.simulate.simulate_study(study, given, html, json, force, quiet))
